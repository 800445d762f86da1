// What goes wrong and how it is mended: the program is not found; the bridge is killed.
import fs from 'node:fs';
import { play } from './workbench.mjs';

const { MACHINE_SETTINGS, COMMAND, HOME_OF_ALL } = process.env;

/** The bridges that run below this test's home folder. */
function bridges() {
  const mine = (pid) => {
    try {
      const words = fs.readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0');
      return words.includes(COMMAND) && fs.readFileSync(`/proc/${pid}/environ`, 'utf8').includes(`HOME=${HOME_OF_ALL}\0`);
    } catch {
      return false;
    }
  };
  return fs.readdirSync('/proc').filter((name) => /^\d+$/.test(name) && mine(name)).map(Number);
}

await play('trouble', async (w) => {
  await w.step('a program that is not found is named, with what to do', async () => {
    await w.toast('“no-such-bridge” was not found').getByRole('button', { name: 'Open Settings' }).waitFor();
    await w.openChat();
    await w.chat.locator('.welcome', { hasText: 'set acpBridge.command' }).waitFor();
    await w.picture('not-found');
  });
  await w.step('its button opens the setting', async () => {
    await w.chat.locator('.welcome').getByRole('button', { name: 'Open Settings' }).click();
    await w.page.locator('.settings-editor .setting-item-label', { hasText: /^Command/ }).first().waitFor();
    await w.picture('settings');
    await w.page.keyboard.press('Escape');
    await w.page.locator('.settings-editor').waitFor({ state: 'detached' });
  });
  await w.step('the setting mended and the bridge started anew, the agents are there', async () => {
    fs.writeFileSync(MACHINE_SETTINGS, JSON.stringify({ 'acpBridge.command': COMMAND }));
    await w.toast('must be restarted').getByRole('button', { name: 'Restart' }).click();
    await w.chat.locator('.agent-picker option', { hasText: 'Demo' }).waitFor({ state: 'attached' });
    await w.prompt('plain');
    await w.entry('agent', 'only text').waitFor();
  });
  await w.step('a killed bridge comes back by itself and says that its sessions ended', async () => {
    const [bridge, ...others] = bridges();
    if (bridge === undefined || others.length > 0) {
      throw new Error(`bridges: ${bridge}, ${others}`);
    }
    process.kill(bridge, 'SIGKILL');
    await w.toast('sessions have ended').waitFor();
    await w.chat.locator('.agent-picker option', { hasText: 'Demo' }).waitFor({ state: 'attached' });
    await w.prompt('plain again');
    await w.entry('user', 'plain again').waitFor();
    await w.entry('agent', 'only text').waitFor();
    await w.picture('back-again');
  });
});
