// A whole turn with the demo agent: unsaved text, prompt, stream, permission by mouse, edit in the buffer, diff.
import fs from 'node:fs';
import path from 'node:path';
import { onDisk, play, workspace } from './workbench.mjs';

const NOTES = 'demo-notes.md';
const MINE = 'typed and not saved';
const ADDED = '- The demo agent was here.';
const onDiskNow = () => fs.readFileSync(path.join(workspace, NOTES), 'utf8');

await play('whole-turn', async (w) => {
  await w.step('a file is open with unsaved text', async () => {
    await w.openFile(NOTES);
    await w.page.locator('.editor-instance .view-line').first().click();
    await w.page.keyboard.press('Control+End');
    await w.page.keyboard.type(`${MINE}\n`);
    await w.line(MINE).waitFor();
    if (onDiskNow().includes(MINE)) {
      throw new Error('the text is on the disk already');
    }
  });
  await w.step('the chat opens and knows its agents', async () => {
    await w.openChat();
    await w.chat.locator('.agent-picker option', { hasText: 'Demo' }).waitFor({ state: 'attached' });
    await w.picture('chat');
  });
  await w.step('the demo agent is chosen', async () => {
    await w.chat.locator('.agent-picker').selectOption({ value: 'demo' });
    await w.chat.locator('.welcome', { hasText: 'Demo' }).waitFor();
  });
  await w.step('a prompt is sent and its answer streams in', async () => {
    await w.prompt('Show me a whole turn');
    await w.entry('user', 'Show me a whole turn').waitFor();
    await w.state('Working').waitFor();
    await w.entry('agent', 'I am the demo agent').waitFor();
    await w.entry('plan', 'Add a line to the notes').waitFor();
  });
  await w.step('the permission shows what is asked, with the options in order', async () => {
    await w.request(NOTES).waitFor();
    await w.state('Waits for you').waitFor();
    const options = await w.request(NOTES).locator('.option').allInnerTexts();
    if (JSON.stringify(options) !== JSON.stringify(['Allow', 'Always allow', 'Reject'])) {
      throw new Error(`the options are ${JSON.stringify(options)}`);
    }
    const subject = await w.request(NOTES).locator('.subject').innerText();
    if (subject !== path.join(workspace, NOTES)) {
      throw new Error(`the subject is ${subject}`);
    }
    await w.picture('permission');
    if (onDiskNow().includes(ADDED)) {
      throw new Error('the file was changed before it was allowed');
    }
  });
  await w.step('allowed with the mouse, the edit arrives in the buffer beside the unsaved text', async () => {
    await w.request(NOTES).getByRole('button', { name: 'Allow', exact: true }).click();
    await w.line(ADDED).waitFor();
    await w.line(MINE).waitFor();
    await w.request(NOTES).waitFor({ state: 'detached' });
  });
  await w.step('the buffer is saved with both', () => onDisk(NOTES, (text) => text.includes(MINE) && text.includes(ADDED)));
  await w.step('the turn ends', async () => {
    await w.entry('agent', 'That was a whole turn').waitFor();
    await w.state('Ready').waitFor();
    await w.entry('plan', '3 of 3 done').waitFor();
    await w.chat.locator('.entry.tool[data-status="completed"]').nth(1).waitFor();
    await w.picture('turn-done');
  });
  await w.step('the diff opens with both sides', async () => {
    await w.chat.locator('.entry.tool', { hasText: NOTES }).getByRole('button', { name: 'Open diff' }).click();
    const diff = w.page.locator('.monaco-diff-editor');
    await diff.locator('.editor.modified .view-line', { hasText: ADDED }).waitFor();
    await diff.locator('.editor.original .view-line', { hasText: MINE }).waitFor();
    if ((await diff.locator('.editor.original .view-line', { hasText: ADDED }).count()) > 0) {
      throw new Error('the old side holds the new line');
    }
    await w.picture('diff');
  });
  await w.step('one step of undo takes the edit back', async () => {
    await w.tab(NOTES).first().click();
    await w.line(ADDED).click();
    await w.page.keyboard.press('Control+z');
    await w.line(ADDED).waitFor({ state: 'detached' });
    await w.line(MINE).waitFor();
  });
  await w.step('nothing is complained about', async () => {
    const toasts = await w.page.locator('.notification-toast').allInnerTexts();
    if (toasts.length > 0) {
      throw new Error(JSON.stringify(toasts));
    }
  });
});
