// The workbench as a user sees it: steps with a name and a time, the palette, the explorer, the chat page.
import fs from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';

const { PLAYWRIGHT, BROWSER, BASE, WORKSPACE, PICTURES, PROFILE } = process.env;
const require = createRequire(import.meta.url);
const { chromium } = require(PLAYWRIGHT);
const CHAT = 'iframe.webview.ready[src*="extensionId=acp-bridge.acp-bridge"][src*="purpose=webviewView"]';
const PATIENCE = 60_000;

export const workspace = WORKSPACE;

/** Open the folder in a fresh browser and play `scenario(workbench)`; exits non-zero at the first failing step. */
export async function play(name, scenario) {
  const context = await chromium.launchPersistentContext(PROFILE, {
    executablePath: BROWSER,
    headless: true,
    viewport: { width: 1280, height: 820 },
    args: ['--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking'],
  });
  await context.grantPermissions(['clipboard-read', 'clipboard-write']);
  const page = context.pages()[0] ?? (await context.newPage());
  page.setDefaultTimeout(PATIENCE);
  const messages = [];
  page.on('console', (message) => messages.push(`${message.type()} ${message.text()}`));
  const workbench = new Workbench(name, page);
  let failed = false;
  try {
    await workbench.step('the workbench loads', async () => {
      await page.goto(`${BASE}/?folder=${encodeURIComponent(WORKSPACE)}`);
      await page.locator('.monaco-workbench').waitFor();
      await page.locator('.explorer-folders-view .monaco-list-row').first().waitFor();
    });
    await scenario(workbench);
  } catch (error) {
    failed = true;
    console.log(`FAILED ${error.stack ?? error}`);
    await workbench.picture('failed').catch(() => undefined);
    const frames = await page.locator('iframe').evaluateAll((all) => all.map((one) => `${one.className} ${one.src.slice(0, 300)}`));
    console.log(`frames: ${frames.join('\n        ')}`);
  }
  fs.writeFileSync(path.join(PICTURES, `${name}-console.txt`), messages.join('\n'));
  await context.close();
  process.exit(failed ? 1 : 0);
}

class Workbench {
  constructor(name, page) {
    this.name = name;
    this.page = page;
    this.chat = page.frameLocator(CHAT).frameLocator('#active-frame');
    this.began = Date.now();
    this.pictures = 0;
  }

  async step(what, work) {
    const began = Date.now();
    try {
      const result = await work();
      console.log(`ok ${String(Date.now() - began).padStart(6)} ms  ${what}`);
      return result;
    } catch (error) {
      error.message = `${what}: ${error.message}`;
      throw error;
    }
  }

  async picture(what) {
    const count = String(++this.pictures).padStart(2, '0');
    await this.page.screenshot({ path: path.join(PICTURES, `${this.name}-${count}-${what}.png`) });
  }

  /** Run a command by its title in the palette. */
  async command(title) {
    const palette = this.page.locator('.quick-input-widget:visible');
    await this.page.keyboard.press('F1');
    await palette.waitFor();
    await palette.locator('input').first().fill(`>${title}`);
    await palette.locator('.monaco-list-row', { hasText: title }).first().click();
  }

  /** Bring a view of the activity bar to the front; a click on one that is there already would hide it. */
  async showView(label, shown) {
    if (!(await shown.isVisible())) {
      await this.page.locator(`.activitybar .action-item a[aria-label^="${label}"]`).click();
      await shown.waitFor();
    }
  }

  async openFile(name) {
    const row = this.page.locator('.explorer-folders-view .monaco-list-row', { hasText: name });
    await this.showView('Explorer', row);
    await row.dblclick();
    await this.tab(name).waitFor();
    await this.page.locator('.editor-instance .monaco-editor .view-line').first().waitFor();
  }

  async openChat() {
    await this.showView('ACP Bridge', this.promptBox());
  }

  tab(name) {
    return this.page.locator('.tab', { hasText: name });
  }

  line(text) {
    return this.page.locator('.editor-instance .view-line', { hasText: text });
  }

  toast(text) {
    return this.page.locator('.notification-toast', { hasText: text });
  }

  promptBox() {
    return this.chat.locator('textarea.prompt');
  }

  /** Write a prompt with the keyboard and send it with Enter. */
  async prompt(text) {
    await this.promptBox().click();
    await this.page.keyboard.type(text);
    await this.page.keyboard.press('Enter');
  }

  entry(kind, text) {
    return this.chat.locator(`.entry.${kind}`, { hasText: text });
  }

  request(text) {
    return this.chat.locator('.request', { hasText: text });
  }

  state(word) {
    return this.chat.locator('.state', { hasText: word });
  }
}

/** Wait until the file's text on the disk satisfies `holds`. */
export async function onDisk(file, holds) {
  const full = path.join(WORKSPACE, file);
  const read = () => (fs.existsSync(full) ? fs.readFileSync(full, 'utf8') : '');
  const end = Date.now() + PATIENCE;
  while (!holds(read())) {
    if (Date.now() > end) {
      throw new Error(`${file} on disk is ${JSON.stringify(read())}`);
    }
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}
