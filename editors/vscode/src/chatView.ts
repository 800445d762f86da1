// The chat view: serves the page, hands it the state and the thread, and does what its buttons ask.
import { randomBytes } from 'node:crypto';
import * as path from 'node:path';
import * as vscode from 'vscode';
import type { ShownTexts } from './diffs.ts';
import { PAGE_METHODS, type FromPage, type ToPage } from './messages.ts';
import { problemOf, runAction, showProblem } from './problems.ts';
import type { Session } from './protocol.ts';
import type { Server } from './server.ts';
import type { Sessions } from './sessions.ts';

export const CHAT_VIEW = 'acpBridge.chat';

export class ChatView implements vscode.WebviewViewProvider, vscode.Disposable {
  private view: vscode.WebviewView | undefined;
  private ready = false;
  private scheduled = false;
  private starting: Promise<Session> | undefined;
  private readonly subscriptions: vscode.Disposable[];

  constructor(
    private readonly extension: vscode.Uri,
    private readonly server: Server,
    private readonly sessions: Sessions,
    private readonly texts: ShownTexts,
  ) {
    this.subscriptions = [
      // Kept while hidden: the place in the thread and what is unfolded stay; nothing is drawn meanwhile.
      vscode.window.registerWebviewViewProvider(CHAT_VIEW, this, { webviewOptions: { retainContextWhenHidden: true } }),
      server.onDidChange(() => this.showState()),
      sessions.onDidChange(() => this.showState()),
      sessions.onDidChangeThread((changed) => {
        if (changed.sessionId === this.sessions.current) {
          this.post({ type: 'thread', changed });
        }
      }),
    ];
  }

  get visible(): boolean {
    return this.view?.visible ?? false;
  }

  resolveWebviewView(view: vscode.WebviewView): void {
    this.view = view;
    this.ready = false;
    const dist = vscode.Uri.joinPath(this.extension, 'dist');
    view.webview.options = { enableScripts: true, localResourceRoots: [dist] };
    view.webview.onDidReceiveMessage((message: FromPage) => this.receive(message).catch(report));
    view.onDidDispose(() => {
      this.view = undefined;
      this.ready = false;
    });
    view.webview.html = page(view.webview, dist);
    this.showBadge();
  }

  async focus(): Promise<void> {
    await vscode.commands.executeCommand(`${CHAT_VIEW}.focus`);
    this.post({ type: 'focus' });
  }

  dispose(): void {
    for (const subscription of this.subscriptions) {
      subscription.dispose();
    }
  }

  private post(message: ToPage): void {
    if (this.view && this.ready) {
      void this.view.webview.postMessage(message);
    }
  }

  /** Hand the page the state, once for all changes of one moment. */
  private showState(): void {
    if (!this.scheduled) {
      this.scheduled = true;
      setImmediate(() => {
        this.scheduled = false;
        this.postState();
      });
    }
  }

  private postState(): void {
    const { agents, current, agent } = this.sessions;
    this.post({
      type: 'state',
      state: {
        phase: this.server.phase,
        ...(this.server.problem ? { problem: this.server.problem } : {}),
        agents,
        sessions: [...this.sessions.sessions.values()],
        ...(current === undefined ? {} : { current }),
        ...(agent ? { agent: agent.id } : {}),
      },
    });
    this.showBadge();
  }

  /** The number of sessions that wait for the user, on the view's icon. */
  private showBadge(): void {
    if (this.view) {
      const waiting = [...this.sessions.sessions.values()].filter((session) => session.pending.length > 0).length;
      const tooltip = waiting === 1 ? 'A session waits for your answer' : `${waiting} sessions wait for your answer`;
      this.view.badge = waiting > 0 ? { value: waiting, tooltip } : undefined;
    }
  }

  private async receive(message: FromPage): Promise<void> {
    switch (message.type) {
      case 'ready':
        this.ready = true;
        this.showState();
        return;
      case 'call':
        if (PAGE_METHODS.includes(message.method)) {
          await this.reply(message.id, () => this.server.request(message.method, message.params));
        }
        return;
      case 'prompt':
        await this.reply(message.id, () => this.prompt(message.text));
        return;
      case 'newSession':
        await this.sessions.create(message.agent);
        return;
      case 'chooseAgent':
        await this.sessions.choose(message.agent);
        return;
      case 'select':
        this.sessions.show(message.sessionId);
        return;
      case 'action':
        await runAction(message.name);
        return;
      case 'openDiff':
        await this.texts.openDiff(message.path, message.oldText, message.newText);
        return;
      case 'openText':
        await this.texts.openText(message.title, message.text);
        return;
      case 'openFile':
        await openFile(vscode.Uri.parse(message.uri), message.line ?? undefined);
        return;
      case 'openLink':
        await this.openLink(message.href);
    }
  }

  /** Answer the page's request `id`, with a problem where it fails. */
  private async reply(id: number, work: () => Promise<unknown>): Promise<void> {
    try {
      this.post({ type: 'reply', id, result: await work() });
    } catch (error) {
      this.post({ type: 'reply', id, problem: problemOf(error) });
    }
  }

  /** Send a prompt to the session on show; the first one starts it, those that follow at once wait for that. */
  private async prompt(text: string): Promise<unknown> {
    this.starting ??= this.sessions.session ? undefined : this.sessions.create();
    const session = (await this.starting?.finally(() => (this.starting = undefined))) ?? this.sessions.session;
    if (!session) {
      throw new Error('The session was closed.');
    }
    return this.server.request('acp/session/prompt', { sessionId: session.sessionId, prompt: text });
  }

  /** A link an agent wrote: an address, or a file of the session, maybe with `#L12` or `:12`. */
  private async openLink(href: string): Promise<void> {
    if (/^(https?|mailto):/i.test(href)) {
      await vscode.env.openExternal(vscode.Uri.parse(href));
      return;
    }
    const [, name = href, line] = /^(.*?)(?:(?:#L|:)(\d+).*)?$/.exec(decodeURIComponent(href)) ?? [];
    const file = path.resolve(this.sessions.session?.cwd ?? '', name.replace(/^file:\/\//, ''));
    await openFile(vscode.Uri.file(file), line === undefined ? undefined : Number(line) - 1);
  }
}

function report(error: unknown): Promise<void> {
  return showProblem(problemOf(error));
}

async function openFile(uri: vscode.Uri, line: number | undefined): Promise<void> {
  if ((await vscode.workspace.fs.stat(uri)).type & vscode.FileType.Directory) {
    await vscode.commands.executeCommand('revealInExplorer', uri);
    return;
  }
  const selection = line === undefined ? {} : { selection: new vscode.Range(line, 0, line, 0) };
  await vscode.window.showTextDocument(uri, { preview: true, ...selection });
}

function page(webview: vscode.Webview, dist: vscode.Uri): string {
  const nonce = randomBytes(16).toString('base64');
  const address = (name: string) => String(webview.asWebviewUri(vscode.Uri.joinPath(dist, name)));
  const policy = [
    "default-src 'none'",
    `style-src ${webview.cspSource}`,
    `script-src 'nonce-${nonce}'`,
    'img-src data:',
  ].join('; ');
  return `<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<link rel="stylesheet" href="${address('chat.css')}">
<title>Chat</title>
</head>
<body>
<script nonce="${nonce}" src="${address('chat.js')}"></script>
</body>
</html>`;
}
