// A real agent in the editor: a file changed through its open buffer, a shell command asked for word by word.
import { onDisk, play, workspace } from './workbench.mjs';

const { AGENT } = process.env;

await play('real-agent', async (w) => {
  const allow = (text) => w.request(text).locator('.option.allow_once').first().click();

  await w.step('the agent from the settings is chosen', async () => {
    await w.openFile('README.md');
    await w.openChat();
    await w.chat.locator('.agent-picker').selectOption({ label: AGENT });
  });
  await w.step('it edits a file that is open; the change is seen in the buffer', async () => {
    await w.prompt(`CWD:${workspace} SCN:edit`);
    await w.request('README.md').waitFor();
    await w.picture('edit-permission');
    await allow('README.md');
    await w.line('goodbye world').waitFor();
    await onDisk('README.md', (text) => text.includes('goodbye world'));
    await w.entry('agent', 'Edited.').waitFor();
    await w.state('Ready').waitFor();
  });
  await w.step('a shell command is shown exactly and runs once allowed', async () => {
    await w.prompt(`CWD:${workspace} SCN:shell_plain`);
    const command = await w.request('').locator('.subject').first().innerText();
    if (command !== 'echo plain > plain.txt; ls') {
      throw new Error(`the command shown is ${JSON.stringify(command)}`);
    }
    await w.picture('shell-permission');
    await allow('');
    await onDisk('plain.txt', (text) => text === 'plain\n');
    await w.entry('agent', 'Ran it.').waitFor();
    await w.state('Ready').waitFor();
    await w.picture('done');
  });
  await w.step('its diff opens', async () => {
    await w.chat.locator('.entry.tool', { hasText: 'README.md' }).getByRole('button', { name: 'Open diff' }).first().click();
    await w.page.locator('.monaco-diff-editor .editor.modified .view-line', { hasText: 'goodbye world' }).waitFor();
    await w.picture('diff');
  });
});
