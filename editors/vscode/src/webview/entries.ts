// One view for each kind of thread entry. `update` draws the entry as it is now.
import type {
  AgentEntry,
  CompactionEntry,
  ContentBlock,
  ElicitationEntry,
  Entry,
  ErrorEntry,
  NoticeEntry,
  PermissionEntry,
  PlanEntryList,
  StopEntry,
  ThoughtEntry,
  UnknownEntry,
  UserEntry,
} from '../protocol.ts';
import { h, icon } from './dom.ts';
import { post } from './host.ts';
import { MarkdownText } from './markdown.ts';
import { ToolView } from './tool.ts';

export interface EntryView {
  readonly element: HTMLElement;
  update(entry: Entry): void;
}

export function entryView(entry: Entry): EntryView {
  switch (entry.kind) {
    case 'user':
      return new Redrawn<UserEntry>('user', drawUser);
    case 'agent':
      return new AgentView();
    case 'thought':
      return new ThoughtView();
    case 'tool':
      return new ToolView();
    case 'plan':
      return new Redrawn<PlanEntryList>('plan', drawPlan);
    case 'notice':
      return new Redrawn<NoticeEntry>('banner notice', drawNotice);
    case 'error':
      return new Redrawn<ErrorEntry>('banner error', drawError);
    case 'stop':
      return new Redrawn<StopEntry>('stop', drawStop);
    case 'compaction':
      return new Redrawn<CompactionEntry>('line', drawCompaction);
    case 'elicitation':
      return new Redrawn<ElicitationEntry>('line', drawElicitation);
    case 'permission':
      return new Redrawn<PermissionEntry>('line', drawPermission);
    default:
      return new Redrawn<UnknownEntry>('line', drawUnknown);
  }
}

/** A content block in words and pictures, whatever its type. */
export function blockElement(block: ContentBlock): HTMLElement {
  switch (block.type) {
    case 'text':
      return h('div', { class: 'plain' }, String(block['text'] ?? ''));
    case 'image': {
      const source = `data:${block['mimeType']};base64,${block['data']}`;
      return h('img', { class: 'picture', src: source, alt: 'Image' });
    }
    case 'resource_link': {
      const uri = String(block['uri'] ?? '');
      const name = String(block['title'] ?? block['name'] ?? uri);
      return h('button', { class: 'chip', type: 'button', title: uri, onclick: () => open(uri) }, icon('file'), name);
    }
    case 'resource': {
      const uri = String(block['resource']?.uri ?? '');
      return h('button', { class: 'chip', type: 'button', title: uri, onclick: () => open(uri) }, icon('file'), uri);
    }
    default:
      return h('span', { class: 'chip' }, block.type);
  }
}

export function openWhole(title: string): (text: string) => void {
  return (text) => post({ type: 'openText', title, text });
}

function open(uri: string): void {
  post(uri.startsWith('file:') ? { type: 'openFile', uri } : { type: 'openLink', href: uri });
}

/** A view drawn anew at each change: for entries that are small or change seldom. */
class Redrawn<E extends Entry> implements EntryView {
  readonly element: HTMLElement;

  constructor(
    private readonly kind: string,
    private readonly draw: (entry: E, element: HTMLElement) => Node[],
  ) {
    this.element = h('div', { class: `entry ${kind}` });
  }

  update(entry: Entry): void {
    this.element.className = `entry ${this.kind}`;
    this.element.replaceChildren(...this.draw(entry as E, this.element));
  }
}

class AgentView implements EntryView {
  readonly element = h('div', { class: 'entry agent' });
  private readonly text = new MarkdownText(openWhole('answer'));
  private readonly blocks = h('div', { class: 'blocks' });
  private drawn: AgentEntry['blocks'];

  constructor() {
    this.element.append(this.text.element, this.blocks);
  }

  update(entry: Entry): void {
    const { text, blocks } = entry as AgentEntry;
    this.text.update(text);
    if (blocks !== this.drawn) {
      this.drawn = blocks;
      this.blocks.replaceChildren(...(blocks ?? []).filter((block) => block.type !== 'text').map(blockElement));
    }
  }
}

class ThoughtView implements EntryView {
  readonly element = h('details', { class: 'entry thought' });
  private readonly text = new MarkdownText(openWhole('thoughts'));

  constructor() {
    this.element.append(h('summary', {}, icon('brain'), 'Thoughts'), this.text.element);
  }

  update(entry: Entry): void {
    this.text.update((entry as ThoughtEntry).text);
  }
}

function drawUser(entry: UserEntry): Node[] {
  return entry.blocks.map(blockElement);
}

function drawPlan(entry: PlanEntryList): Node[] {
  const done = entry.entries.filter((step) => step.status === 'completed').length;
  const steps = entry.entries.map((step) => {
    const status = step.status ?? 'pending';
    const mark =
      status === 'completed'
        ? icon('check', 'good')
        : status === 'in_progress'
          ? h('span', { class: 'spinner', 'aria-hidden': 'true' })
          : icon('circle', 'muted');
    return h('li', { class: status, 'aria-label': `${step.content} (${status.replace('_', ' ')})` }, mark, step.content);
  });
  return [h('div', { class: 'label' }, `Plan · ${done} of ${steps.length} done`), h('ul', {}, ...steps)];
}

function drawNotice(entry: NoticeEntry, element: HTMLElement): Node[] {
  element.classList.add(entry.severity);
  const name = entry.severity === 'error' || entry.severity === 'warning' ? 'warning' : 'info';
  return [icon(name), h('div', {}, h('div', { class: 'strong' }, entry.title), h('div', {}, entry.description ?? ''))];
}

function drawError(entry: ErrorEntry): Node[] {
  const detail = entry.detail ? h('details', {}, h('summary', {}, 'Details'), h('pre', {}, entry.detail)) : undefined;
  const hint = entry.hint ? h('div', { class: 'muted' }, entry.hint) : undefined;
  return [icon('warning'), h('div', { role: 'alert' }, h('div', { class: 'strong' }, entry.message), hint, detail)];
}

const STOPS: Record<string, string> = {
  end_turn: '',
  cancelled: 'Cancelled',
  refusal: 'Refused or failed',
  max_tokens: 'Stopped: the answer reached its greatest length',
  max_turn_requests: 'Stopped: the turn made too many requests',
  error: 'Stopped by an error',
  interrupted: 'Interrupted: the bridge ended during this turn',
};

function drawStop(entry: StopEntry): Node[] {
  const text = STOPS[entry.stopReason] ?? `Stopped: ${entry.stopReason}`;
  return text ? [h('span', {}, text)] : [];
}

function drawCompaction(entry: CompactionEntry): Node[] {
  const status = entry.error ?? entry.status ?? '';
  const summary = entry.summary
    ? h('details', {}, h('summary', {}, 'Summary'), h('div', { class: 'plain' }, entry.summary))
    : undefined;
  return [icon('info'), h('div', {}, `Context compaction: ${status}`, summary)];
}

function drawElicitation(entry: ElicitationEntry): Node[] {
  return [icon('info'), h('div', {}, entry.message, entry.action ? ` (${entry.action})` : '')];
}

function drawPermission(entry: PermissionEntry): Node[] {
  const outcome = entry.outcome ? ` · ${entry.outcome['optionId'] ?? entry.outcome['outcome']}` : ' · waits for your answer';
  return [icon('shield'), h('div', {}, entry.title, h('span', { class: 'muted' }, outcome))];
}

function drawUnknown(entry: UnknownEntry): Node[] {
  const raw = JSON.stringify(entry.raw ?? entry, undefined, 1).slice(0, 20_000);
  return [icon('info'), h('details', {}, h('summary', {}, 'Something this version does not know'), h('pre', {}, raw))];
}
