// ACP Bridge in VS Code: starts the bridge as a language server, shows its threads, sends the user's choices.
// Every rule lives in the bridge; this extension renders and relays.
import * as vscode from 'vscode';
import { ChatView } from './chatView.ts';
import { ShownTexts } from './diffs.ts';
import { saveDocument } from './documents.ts';
import { problemOf, showProblem } from './problems.ts';
import type { PermissionRequest } from './protocol.ts';
import { Server } from './server.ts';
import { Sessions } from './sessions.ts';

let server: Server | undefined;

export async function activate(context: vscode.ExtensionContext): Promise<void> {
  const log = vscode.window.createOutputChannel('ACP Bridge', { log: true });
  const sessions: Sessions = new Sessions(() => bridge, context.workspaceState);
  const bridge = new Server(log, (client) => {
    sessions.listen(client);
    client.onRequest('acp/document/save', saveDocument);
  });
  server = bridge;
  const texts = new ShownTexts();
  const chat = new ChatView(context.extensionUri, bridge, sessions, texts);

  let phase = bridge.phase;
  const followServer = () => {
    const began = bridge.phase === 'running' && phase !== 'running';
    phase = bridge.phase;
    if (began) {
      if (sessions.sessions.size > 0) {
        void vscode.window.showWarningMessage('ACP Bridge was started again; its sessions have ended.');
      }
      sessions.reset().catch((error: unknown) => showProblem(problemOf(error)));
    } else if (phase === 'failed' && bridge.problem && !chat.visible) {
      void showProblem(bridge.problem);
    }
  };
  const showRunning = () =>
    vscode.commands.executeCommand('setContext', 'acpBridge.running', isRunning(sessions.session?.state));

  context.subscriptions.push(
    log,
    sessions,
    bridge,
    texts,
    chat,
    bridge.onDidChange(followServer),
    sessions.onDidChange(showRunning),
    sessions.onDidAskPermission((request) => chat.visible || askToLook(request, sessions, chat)),
    vscode.workspace.onDidGrantWorkspaceTrust(() => bridge.restart()),
    vscode.workspace.onDidChangeConfiguration((change) => settingsChanged(change, sessions)),
    command('newSession', async () => {
      await chat.focus();
      await sessions.create();
    }),
    command('selectAgent', async () => {
      const agent = await chooseAgent(sessions);
      if (agent !== undefined) {
        await chat.focus();
        await sessions.create(agent);
      }
    }),
    command('closeSession', async () => {
      if (sessions.current !== undefined) {
        await sessions.close(sessions.current);
      }
    }),
    command('cancelTurn', async () => {
      if (sessions.current !== undefined) {
        await bridge.request('acp/session/cancel', { sessionId: sessions.current });
      }
    }),
    command('restartServer', () => bridge.restart()),
    command('showLog', async () => log.show()),
  );
  await bridge.start();
}

export async function deactivate(): Promise<void> {
  await server?.stop();
}

function isRunning(state: string | undefined): boolean {
  return state === 'running' || state === 'requires_action' || state === 'cancelling';
}

/** One of the extension's commands; what it throws is shown. */
function command(name: string, run: () => Promise<void>): vscode.Disposable {
  return vscode.commands.registerCommand(`acpBridge.${name}`, () =>
    run().catch((error: unknown) => showProblem(problemOf(error))),
  );
}

async function chooseAgent(sessions: Sessions): Promise<string | undefined> {
  const items = sessions.agents.map((agent) => ({
    label: `$(${agent.available ? 'robot' : 'circle-slash'}) ${agent.displayName}`,
    description: agent.id,
    detail: agent.available ? agent.description : `Not available: ${agent.reason ?? 'unknown reason'}`,
    agent,
  }));
  const title = 'New session with…';
  const chosen = await vscode.window.showQuickPick(items, { title, matchOnDescription: true, matchOnDetail: true });
  if (chosen && !chosen.agent.available) {
    const message = `${chosen.agent.displayName} is not available.`;
    await showProblem({ message, hint: chosen.agent.reason ?? '', actions: ['selectAgent', 'openSettings'] });
    return undefined;
  }
  return chosen?.agent.id;
}

/** A request for permission while the chat is out of sight. */
async function askToLook(request: PermissionRequest, sessions: Sessions, chat: ChatView): Promise<void> {
  const look = 'Show';
  const agent = sessions.sessions.get(request.sessionId)?.agent ?? 'An agent';
  if ((await vscode.window.showInformationMessage(`${agent} asks for permission: ${request.title}`, look)) === look) {
    sessions.show(request.sessionId);
    await chat.focus();
  }
}

/** What the bridge was started with has changed: offer to start it again, which ends what runs. */
async function settingsChanged(change: vscode.ConfigurationChangeEvent, sessions: Sessions): Promise<void> {
  const started = ['command', 'args', 'env', 'agentServers'].map((name) => `acpBridge.${name}`);
  if (!started.some((name) => change.affectsConfiguration(name))) {
    return;
  }
  const restart = 'Restart';
  const ends = sessions.sessions.size > 0 ? ' Its sessions end.' : '';
  const text = `ACP Bridge must be restarted to use the changed settings.${ends}`;
  if ((await vscode.window.showInformationMessage(text, restart)) === restart) {
    await vscode.commands.executeCommand('acpBridge.restartServer');
  }
}
