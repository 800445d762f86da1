// Errors as people should read them: what failed, what to try, and a button for it.
import * as vscode from 'vscode';
import { ResponseError } from 'vscode-languageclient/node';
import { ACTIONS, type ActionName, type Problem } from './messages.ts';

const BY_KIND: Record<string, ActionName[]> = {
  agentUnavailable: ['selectAgent', 'openSettings'],
  agentDied: ['showLog'],
  agentSpeaksNoAcp: ['showLog', 'selectAgent'],
  unknownAgent: ['selectAgent', 'openSettings'],
  config: ['openSettings', 'showLog'],
};

/** The problem an error of the bridge tells of: `data` is `{kind, hint, detail?}`. */
export function problemOf(error: unknown): Problem {
  if (error instanceof ResponseError) {
    const data = (error.data ?? {}) as { kind?: string; hint?: string; detail?: string };
    return {
      message: error.message,
      hint: data.hint ?? '',
      ...(data.detail ? { detail: data.detail } : {}),
      actions: BY_KIND[data.kind ?? ''] ?? [],
    };
  }
  return { message: error instanceof Error ? error.message : String(error), hint: '', actions: ['showLog'] };
}

export function commandNotFound(command: string): Problem {
  return {
    message: `The program “${command}” was not found.`,
    hint:
      'Install the bridge (pipx install . in a checkout), or set acpBridge.command to the full path of acp-bridge.',
    actions: ['openSettings', 'restartServer'],
  };
}

export function serverFailed(error: unknown): Problem {
  return {
    message: `The bridge did not start: ${error instanceof Error ? error.message : String(error)}`,
    hint: 'Its log says more. Check acpBridge.command and acpBridge.args.',
    actions: ['showLog', 'openSettings', 'restartServer'],
  };
}

/** Show a problem as a notification and do what the user chooses. */
export async function showProblem(problem: Problem): Promise<void> {
  const buttons = problem.actions.map((name) => ({ title: ACTIONS[name], name }));
  const text = [problem.message, problem.hint].filter(Boolean).join(' ');
  const chosen = await vscode.window.showErrorMessage(text, ...buttons);
  if (chosen) {
    await runAction(chosen.name);
  }
}

/** Machine settings stand under User, in a remote window under Remote. */
async function openSettings(): Promise<void> {
  const remote = vscode.env.remoteName !== undefined;
  const command = remote ? 'workbench.action.openRemoteSettings' : 'workbench.action.openSettings';
  await vscode.commands.executeCommand(command, { query: '@ext:acp-bridge.acp-bridge' });
}

export async function runAction(name: ActionName): Promise<void> {
  if (name === 'openSettings') {
    await openSettings();
  } else {
    await vscode.commands.executeCommand(`acpBridge.${name}`);
  }
}
