// The editor protocol as docs/editor-protocol.md has it: what crosses the connection under `acp/`.

export type Json = { [key: string]: any };

export interface ContentBlock { type: string; [key: string]: any }
export interface Location { uri: string; path: string; line?: number | null }
export interface ToolText { type: 'text'; text: string }
export interface ToolBlock { type: 'block'; block: Json }
export interface ToolDiff {
  type: 'diff';
  uri: string;
  path: string;
  oldText: string | null;
  newText: string;
  changes?: Json[] | null;
  patch?: string | null;
}
export interface ToolTerminal { type: 'terminal'; terminalId: string }
export type ToolContent = ToolText | ToolBlock | ToolDiff | ToolTerminal;
export interface PlanEntry { content: string; priority?: string | null; status?: string | null; [key: string]: any }

export interface EntryBase { id: string; turnId: string | null; parent?: string | null }
export interface UserEntry extends EntryBase {
  kind: 'user';
  blocks: ContentBlock[];
  clientMessageId?: string | null;
  checkpointId?: string | null;
}
export interface AgentEntry extends EntryBase { kind: 'agent'; text: string; blocks?: ContentBlock[] | null }
export interface ThoughtEntry extends EntryBase { kind: 'thought'; text: string }
export interface ToolEntry extends EntryBase {
  kind: 'tool';
  name?: string | null;
  title: string;
  toolKind?: string | null;
  status: string;
  content: ToolContent[];
  locations: Location[];
  output?: string;
  rawInput?: any;
  rawOutput?: any;
  requestId?: string | null;
}
export interface PlanEntryList extends EntryBase { kind: 'plan'; entries: PlanEntry[] }
export interface NoticeEntry extends EntryBase {
  kind: 'notice';
  severity: string;
  title: string;
  description?: string | null;
}
export interface ErrorEntry extends EntryBase {
  kind: 'error';
  message: string;
  detail?: string | null;
  hint?: string | null;
}
export interface StopEntry extends EntryBase { kind: 'stop'; stopReason: string; tokens?: Json | null }
export interface CompactionEntry extends EntryBase {
  kind: 'compaction';
  status?: string | null;
  summary?: string | null;
  error?: string | null;
}
export interface ElicitationEntry extends EntryBase {
  kind: 'elicitation';
  requestId: string;
  message: string;
  action?: string | null;
}
export interface PermissionEntry extends EntryBase {
  kind: 'permission';
  requestId: string;
  title: string;
  outcome?: Json | null;
}
export interface UnknownEntry extends EntryBase { kind: 'unknown'; raw: any }
export type Entry =
  | UserEntry
  | AgentEntry
  | ThoughtEntry
  | ToolEntry
  | PlanEntryList
  | NoticeEntry
  | ErrorEntry
  | StopEntry
  | CompactionEntry
  | ElicitationEntry
  | PermissionEntry
  | UnknownEntry;

export interface PutOp { op: 'put'; entry: Entry; after?: string | null }
export interface AppendOp { op: 'append'; id: string; field: 'text' | 'output'; text: string }
export interface PatchOp { op: 'patch'; id: string; set: Json }
export interface RemoveOp { op: 'remove'; id: string }
export type Op = PutOp | AppendOp | PatchOp | RemoveOp;

export interface AuthMethod { id: string; name: string; description?: string | null; [key: string]: any }
export type AgentState = 'stopped' | 'starting' | 'running' | 'authRequired' | 'failed';
export interface Agent {
  id: string;
  name: string;
  displayName: string;
  description: string;
  protocol: string;
  source: string;
  enabled: boolean;
  available: boolean;
  reason?: string | null;
  state: AgentState;
  version?: string | null;
  authMethods?: AuthMethod[] | null;
  profiles: Json[];
}
export interface Usage {
  used?: number | null;
  size?: number | null;
  remaining?: number | null;
  percent?: number | null;
  cost?: Json | null;
  tokens?: Json | null;
}
export interface QueueItem {
  turnId: string;
  blocks: ContentBlock[];
  queuedAt: string;
  clientMessageId?: string | null;
}
export interface Queue { held: boolean; items: QueueItem[] }
export interface PermissionOption { optionId: string; name: string; kind?: string | null; [key: string]: any }
export interface PermissionAction {
  type: 'shell' | 'edit' | 'read' | 'delete' | 'move' | 'fetch' | 'mode' | 'other';
  details: Json;
}
export interface PermissionRequest {
  requestId: string;
  sessionId: string;
  entryId: string;
  toolCallId?: string | null;
  title: string;
  action: PermissionAction;
  options: PermissionOption[];
  rememberScopes: string[];
}
export interface PendingRequest { kind: 'permission' | 'elicitation'; request: Json }
export type SessionState = 'idle' | 'running' | 'requires_action' | 'cancelling' | 'detached' | 'readonly';
export interface Session {
  sessionId: string;
  agent: string;
  profile?: string | null;
  cwd: string;
  title?: string | null;
  state: SessionState;
  taskState: 'IN_PROGRESS' | 'REVIEW';
  turnId?: string | null;
  configOptions: Json[];
  commands: Json[];
  usage?: Usage | null;
  queue: Queue;
  pending: PendingRequest[];
}

export interface Ui {
  thread?: boolean;
  permission?: boolean;
  elicitation?: boolean;
  review?: boolean;
  terminal?: boolean;
  save?: boolean;
  reload?: boolean;
  editorState?: boolean;
  diagnostics?: boolean;
}
export interface InitializationOptions {
  ui?: Ui;
  agentServers?: { [key: string]: Json };
  settings?: Json;
  workspace?: Json | null;
  trusted?: boolean;
}
export interface AgentList { agents: Agent[] }
export interface ThreadState { epoch: string; rev: number; entries: Entry[] }
export interface SessionOpened { sessionId: string; session: Session; thread: ThreadState }
export interface ThreadPage {
  epoch: string;
  rev: number;
  ops?: Op[] | null;
  entries?: Entry[] | null;
  prevCursor?: string | null;
}
export interface ThreadChanged { sessionId: string; epoch: string; fromRev: number; rev: number; ops: Op[] }
export interface SessionChanged { session: Session }
export interface AgentChanged { agent: Agent }
export interface PermissionRequested { request: PermissionRequest }
export interface UriParams { uri: string }
export interface Done { ok: boolean; reason?: string | null }
