// A folder that is not trusted: its own agents stay out until the user trusts it.
import { play } from './workbench.mjs';

await play('restricted', async (w) => {
  const option = (name) => w.chat.locator('.agent-picker option', { hasText: name });

  await w.step('the bridge runs, without the agents of the folder', async () => {
    await w.page.locator('.statusbar-item', { hasText: 'Restricted Mode' }).waitFor();
    await w.openChat();
    await option('Demo').waitFor({ state: 'attached' });
    if ((await option('Agent of the folder').count()) > 0) {
      throw new Error('the agent of an untrusted folder is offered');
    }
    await w.picture('untrusted');
  });
  await w.step('trusted by the user, the folder adds its agent', async () => {
    await w.command('Workspaces: Manage Workspace Trust');
    await w.page.locator('.workspace-trust-editor .monaco-button', { hasText: /^Trust$/ }).click();
    await option('Agent of the folder').waitFor({ state: 'attached' });
  });
});
