// The extension's settings, and where the bridge's program lies.
import { accessSync, constants, statSync } from 'node:fs';
import * as os from 'node:os';
import * as path from 'node:path';
import * as vscode from 'vscode';
import type { InitializationOptions, Json } from './protocol.ts';

export interface Settings {
  command: string;
  args: string[];
  env: Record<string, string>;
  agentServers: Record<string, Json>;
  defaultAgent: string;
}

export function readSettings(): Settings {
  const section = vscode.workspace.getConfiguration('acpBridge');
  return {
    command: section.get<string>('command', 'acp-bridge').trim() || 'acp-bridge',
    args: section.get<string[]>('args', []),
    env: section.get<Record<string, string>>('env', {}),
    agentServers: section.get<Record<string, Json>>('agentServers', {}),
    defaultAgent: section.get<string>('defaultAgent', ''),
  };
}

/** What the bridge is told of this editor; `ui` names only what is drawn or served here. */
export function initializationOptions(settings: Settings): InitializationOptions {
  return {
    ui: { thread: true, permission: true, save: true },
    agentServers: settings.agentServers,
    settings: settings.defaultAgent ? { defaultAgent: settings.defaultAgent } : {},
    trusted: vscode.workspace.isTrusted,
  };
}

/** The program a command names: a path, a path from `~`, or a name on PATH. */
export function findCommand(command: string, environ: NodeJS.ProcessEnv): string | undefined {
  const named = command.startsWith('~/') ? path.join(os.homedir(), command.slice(2)) : command;
  if (named.includes('/') || named.includes('\\')) {
    return isProgram(named) ? named : undefined;
  }
  const endings = process.platform === 'win32' ? ['.exe', '.cmd', '.bat', ''] : [''];
  for (const folder of (environ['PATH'] ?? '').split(path.delimiter).filter(Boolean)) {
    for (const ending of endings) {
      const candidate = path.join(folder, named + ending);
      if (isProgram(candidate)) {
        return candidate;
      }
    }
  }
  return undefined;
}

function isProgram(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return statSync(file).isFile();
  } catch {
    return false;
  }
}
