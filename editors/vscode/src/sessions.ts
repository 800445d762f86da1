// Agents and sessions as the bridge reports them, and which session is on show. Holds no rule: it remembers and asks.
import * as vscode from 'vscode';
import { ResponseError, type LanguageClient } from 'vscode-languageclient/node';
import type {
  Agent,
  AgentChanged,
  AgentList,
  AuthMethod,
  Json,
  PermissionRequested,
  Session,
  SessionChanged,
  SessionOpened,
  ThreadChanged,
} from './protocol.ts';
import type { Server } from './server.ts';
import { readSettings } from './settings.ts';

const LAST_AGENT = 'lastAgent';
const AUTH_REQUIRED = -32000;

export class Sessions implements vscode.Disposable {
  agents: Agent[] = [];
  readonly sessions = new Map<string, Session>();
  current: string | undefined;
  private chosen: string | undefined;
  private readonly changed = new vscode.EventEmitter<void>();
  private readonly threadChanged = new vscode.EventEmitter<ThreadChanged>();
  private readonly asked = new vscode.EventEmitter<PermissionRequested['request']>();
  readonly onDidChange = this.changed.event;
  readonly onDidChangeThread = this.threadChanged.event;
  readonly onDidAskPermission = this.asked.event;

  constructor(
    private readonly server: () => Server,
    private readonly memory: vscode.Memento,
  ) {
    this.chosen = memory.get<string>(LAST_AGENT);
  }

  listen(client: LanguageClient): void {
    client.onNotification('acp/thread/changed', (changed: ThreadChanged) => this.threadChanged.fire(changed));
    client.onNotification('acp/session/changed', ({ session }: SessionChanged) => this.remember(session));
    client.onNotification('acp/permission/requested', ({ request }: PermissionRequested) => this.asked.fire(request));
    client.onNotification('acp/agent/changed', ({ agent }: AgentChanged) => {
      const at = this.agents.findIndex((known) => known.id === agent.id);
      this.agents.splice(at < 0 ? this.agents.length : at, 1, agent);
      this.changed.fire();
    });
  }

  /** A new bridge knows none of the old one's sessions. */
  async reset(): Promise<void> {
    this.sessions.clear();
    this.current = undefined;
    this.agents = (await this.server().request<AgentList>('acp/agents/list', {})).agents;
    this.changed.fire();
  }

  get session(): Session | undefined {
    return this.current === undefined ? undefined : this.sessions.get(this.current);
  }

  /** The agent a new session starts with: the one chosen here, the setting's, the first that can be started. */
  get agent(): Agent | undefined {
    const usable = this.agents.filter((agent) => agent.available);
    const named = (id: string | undefined) => usable.find((agent) => agent.id === id);
    return named(this.chosen) ?? named(readSettings().defaultAgent) ?? usable[0];
  }

  async choose(agent: string): Promise<void> {
    this.chosen = agent;
    await this.memory.update(LAST_AGENT, agent);
    this.changed.fire();
  }

  show(sessionId: string): void {
    this.current = sessionId;
    this.changed.fire();
  }

  /** Start a session and show it. Logs in first where the agent wants that and the user agrees. */
  async create(agentId?: string): Promise<Session> {
    const agent = agentId ?? this.agent?.id;
    if (agent === undefined) {
      throw new Error('No agent can be started. Install one, or add one to the setting acpBridge.agentServers.');
    }
    const [folder, ...others] = vscode.workspace.workspaceFolders ?? [];
    const params = {
      agent,
      ...(folder ? { cwd: folder.uri.fsPath } : {}),
      ...(others.length > 0 ? { additionalDirectories: others.map((other) => other.uri.fsPath) } : {}),
    };
    const opened = await this.authenticated(agent, () => this.server().request<SessionOpened>('acp/session/new', params));
    await this.choose(agent);
    this.sessions.set(opened.sessionId, this.sessions.get(opened.sessionId) ?? opened.session);
    this.show(opened.sessionId);
    return opened.session;
  }

  async close(sessionId: string): Promise<void> {
    await this.server().request('acp/session/close', { sessionId });
    this.sessions.delete(sessionId);
    if (this.current === sessionId) {
      this.current = [...this.sessions.keys()].at(-1);
    }
    this.changed.fire();
  }

  dispose(): void {
    this.changed.dispose();
    this.threadChanged.dispose();
    this.asked.dispose();
  }

  private remember(session: Session): void {
    this.sessions.set(session.sessionId, session);
    this.current ??= session.sessionId;
    this.changed.fire();
  }

  private async authenticated<R>(agent: string, call: () => Promise<R>): Promise<R> {
    try {
      return await call();
    } catch (error) {
      const methods = authMethods(error);
      const method = methods && (await chooseMethod(agent, methods));
      if (!method) {
        throw error;
      }
      await this.server().request('acp/agents/authenticate', { agent, methodId: method });
      return call();
    }
  }
}

function authMethods(error: unknown): AuthMethod[] | undefined {
  if (!(error instanceof ResponseError) || error.code !== AUTH_REQUIRED) {
    return undefined;
  }
  return ((error.data as Json | undefined)?.['authMethods'] as AuthMethod[] | undefined) ?? [];
}

async function chooseMethod(agent: string, methods: AuthMethod[]): Promise<string | undefined> {
  const items = methods.map((method) => ({ label: method.name, detail: method.description ?? '', id: method.id }));
  const title = `${agent} wants you to log in`;
  return (await vscode.window.showQuickPick(items, { title, placeHolder: 'How to log in' }))?.id;
}
