// More of a conversation with the demo agent: streaming, the queue, cancelling, failures, sessions, hiding the view.
import { play } from './workbench.mjs';

await play('conversation', async (w) => {
  const agentText = () => w.chat.locator('.entry.agent').last().innerText();
  const title = (name) => w.page.locator(`.pane-header .actions-container a[aria-label^="${name}"], .composite.title a[aria-label^="${name}"]`);

  await w.step('an answer grows while it streams', async () => {
    await w.openChat();
    await w.chat.locator('.welcome', { hasText: 'Demo' }).waitFor();
    await w.prompt('slow, please');
    await w.entry('agent', 'still talking').waitFor();
    const before = (await agentText()).length;
    await w.chat.locator('.entry.agent').last().evaluate(
      (element, length) =>
        new Promise((done) => {
          const look = () => (element.textContent.length > length + 200 ? done() : requestAnimationFrame(look));
          look();
        }),
      before,
    );
    await w.state('Working').waitFor();
  });
  await w.step('a prompt sent meanwhile waits in the queue', async () => {
    await w.prompt('then something plain');
    await w.chat.locator('.queued', { hasText: 'then something plain' }).waitFor();
    await w.picture('queued');
  });
  await w.step('the stop button cancels the turn and holds the queue', async () => {
    await w.chat.locator('.stop-button').click();
    await w.entry('stop', 'Cancelled').waitFor();
    await w.state('Ready').waitFor();
    await w.chat.locator('.queue', { hasText: 'Held' }).waitFor();
  });
  await w.step('held prompts are sent when told to', async () => {
    await w.chat.locator('.queue').getByRole('button', { name: 'Send them now' }).click();
    await w.entry('user', 'then something plain').waitFor();
    await w.entry('agent', 'Hello from the demo agent').locator('strong', { hasText: 'only text' }).waitFor();
    await w.state('Ready').waitFor();
    await w.chat.locator('.queued').waitFor({ state: 'detached' });
  });
  await w.step('an option of the agent is changed', async () => {
    await w.chat.getByLabel('Mode').selectOption({ label: 'Auto' });
    await w.chat.getByRole('button', { name: 'Show thoughts', pressed: true }).click();
    await w.chat.getByRole('button', { name: 'Show thoughts', pressed: false }).waitFor();
  });
  await w.step('a command completes with the Tab key', async () => {
    await w.promptBox().click();
    await w.page.keyboard.type('/pl');
    await w.chat.locator('.command', { hasText: '/plain' }).waitFor();
    await w.picture('commands');
    await w.page.keyboard.press('Tab');
    if ((await w.promptBox().inputValue()) !== '/plain ') {
      throw new Error(`the box holds ${JSON.stringify(await w.promptBox().inputValue())}`);
    }
    await w.promptBox().fill('');
  });
  await w.step('Shift+Enter makes a new line and sends nothing', async () => {
    await w.promptBox().click();
    await w.page.keyboard.type('plain: one');
    await w.page.keyboard.press('Shift+Enter');
    await w.page.keyboard.type('two <b>not bold</b>');
    await w.page.keyboard.press('Enter');
    const sent = await w.entry('user', 'plain: one').innerText();
    if (sent !== 'plain: one\ntwo <b>not bold</b>') {
      throw new Error(`sent ${JSON.stringify(sent)}`);
    }
    await w.state('Ready').waitFor();
  });
  await w.step('a failed turn says why and what to try', async () => {
    await w.prompt('fail');
    await w.entry('error', 'failed on purpose').waitFor();
    await w.entry('error', 'Send another prompt').waitFor();
    await w.state('Ready').waitFor();
  });
  await w.step('a dead agent is told of with its last words', async () => {
    await w.prompt('die');
    await w.entry('error', 'dying on purpose').waitFor({ state: 'attached' });
    await w.picture('errors');
  });
  await w.step('a second session starts from the title bar, and the first is still there', async () => {
    await title('New Session').first().click();
    await w.chat.locator('.session-picker').waitFor();
    await w.chat.locator('.entry').first().waitFor({ state: 'detached' });
    await w.prompt('big 3000');
    await w.entry('agent', 'line 3000').waitFor();
    await w.state('Ready').waitFor();
    await w.chat.locator('.session-picker').selectOption({ index: 0 });
    await w.entry('user', 'then something plain').waitFor();
  });
  await w.step('hidden and shown again, the thread and the draft are back', async () => {
    await w.promptBox().fill('half a thought');
    await w.showView('Explorer', w.page.locator('.explorer-folders-view .monaco-list-row').first());
    await w.openChat();
    await w.entry('user', 'then something plain').waitFor();
    if ((await w.promptBox().inputValue()) !== 'half a thought') {
      throw new Error(`the draft is ${JSON.stringify(await w.promptBox().inputValue())}`);
    }
    await w.promptBox().fill('');
    await w.picture('shown-again');
  });
  await w.step('a closed session is gone', async () => {
    await w.command('ACP Bridge: Close Session');
    await w.chat.locator('.session-picker').waitFor({ state: 'detached' });
    await w.entry('agent', 'line 3000').waitFor();
  });
});
