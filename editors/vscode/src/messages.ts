// What the extension and its chat page say to each other.
import type { Agent, Json, Session, ThreadChanged } from './protocol.ts';

/** Something that went wrong, as a person should read it, with what can be done by one click. */
export interface Problem {
  message: string;
  hint: string;
  detail?: string;
  actions: ActionName[];
}

export const ACTIONS = {
  openSettings: 'Open Settings',
  restartServer: 'Try Again',
  showLog: 'Show Log',
  selectAgent: 'Choose Another Agent',
} as const;
export type ActionName = keyof typeof ACTIONS;

export type Phase = 'starting' | 'running' | 'failed';

export interface ChatState {
  phase: Phase;
  problem?: Problem;
  agents: Agent[];
  sessions: Session[];
  /** The session on show. */
  current?: string;
  /** The agent a new session would start with. */
  agent?: string;
}

export type ToPage =
  | { type: 'state'; state: ChatState }
  | { type: 'thread'; changed: ThreadChanged }
  | { type: 'reply'; id: number; result?: any; problem?: Problem }
  | { type: 'focus' };

/** Requests the page may send on to the bridge. */
export const PAGE_METHODS = [
  'acp/thread/get',
  'acp/session/cancel',
  'acp/session/queue',
  'acp/session/setConfigOption',
  'acp/permission/answer',
] as const;
export type PageMethod = (typeof PAGE_METHODS)[number];

export type FromPage =
  | { type: 'ready' }
  | { type: 'call'; id: number; method: PageMethod; params: Json }
  | { type: 'prompt'; id: number; text: string }
  | { type: 'newSession'; agent?: string }
  | { type: 'chooseAgent'; agent: string }
  | { type: 'select'; sessionId: string }
  | { type: 'action'; name: ActionName }
  | { type: 'openDiff'; path: string; oldText: string | null; newText: string }
  | { type: 'openText'; title: string; text: string }
  | { type: 'openFile'; uri: string; line?: number | null }
  | { type: 'openLink'; href: string };
