// The bridge's process and the LSP connection to it.
import * as vscode from 'vscode';
import {
  LanguageClient,
  State,
  TransportKind,
  type LanguageClientOptions,
  type ServerOptions,
} from 'vscode-languageclient/node';
import type { Phase, Problem } from './messages.ts';
import { commandNotFound, serverFailed } from './problems.ts';
import { findCommand, initializationOptions, readSettings } from './settings.ts';

/** Starts, restarts and stops the bridge. `setUp` runs on each new client before it starts. */
export class Server implements vscode.Disposable {
  phase: Phase = 'starting';
  problem: Problem | undefined;
  private client: LanguageClient | undefined;
  private readonly changed = new vscode.EventEmitter<void>();
  readonly onDidChange = this.changed.event;

  constructor(
    private readonly log: vscode.LogOutputChannel,
    private readonly setUp: (client: LanguageClient) => void,
  ) {}

  /** Start the bridge; what goes wrong is in `problem`. */
  async start(): Promise<void> {
    const settings = readSettings();
    const environ = { ...process.env, ...settings.env };
    const command = findCommand(settings.command, environ);
    if (!command) {
      this.enter('failed', commandNotFound(settings.command));
      return;
    }
    this.enter('starting');
    const server: ServerOptions = {
      command,
      args: [...settings.args, 'lsp'],
      transport: TransportKind.stdio,
      options: { env: environ },
    };
    const options: LanguageClientOptions = {
      documentSelector: [{ scheme: 'file' }],
      initializationOptions: { acp: initializationOptions(settings) },
      outputChannel: this.log,
      initializationFailedHandler: () => false,
    };
    const client = new LanguageClient('acpBridge', 'ACP Bridge', server, options);
    this.client = client;
    this.setUp(client);
    client.onDidChangeState(({ newState }) => this.follow(client, newState));
    try {
      await client.start();
    } catch (error) {
      if (this.client === client) {
        this.enter('failed', serverFailed(error));
      }
    }
  }

  async stop(): Promise<void> {
    const client = this.client;
    this.client = undefined;
    try {
      await client?.dispose();
    } catch (error) {
      this.log.warn(`stopping: ${String(error)}`);
    }
  }

  async restart(): Promise<void> {
    await this.stop();
    await this.start();
  }

  /** Send a request. Rejects with a ResponseError of the bridge, or an Error while it is not running. */
  async request<R>(method: string, params: object): Promise<R> {
    if (!this.client || this.phase !== 'running') {
      throw new Error(this.problem?.message ?? 'The bridge is not running yet.');
    }
    return this.client.sendRequest<R>(method, params);
  }

  dispose(): void {
    this.changed.dispose();
  }

  private follow(client: LanguageClient, state: State): void {
    if (client !== this.client) {
      return;
    }
    if (state === State.Running) {
      this.enter('running');
    } else if (state === State.Stopped && this.phase === 'running') {
      this.enter('failed', {
        message: 'The bridge has stopped.',
        hint: 'Its log says why.',
        actions: ['restartServer', 'showLog'],
      });
    } else if (state === State.Starting) {
      this.enter('starting');
    }
  }

  private enter(phase: Phase, problem?: Problem): void {
    this.phase = phase;
    this.problem = problem;
    this.changed.fire();
  }
}
