// A tool call: what it is, how it stands, what it changed and printed.
import type { Entry, Location, ToolContent, ToolDiff, ToolEntry } from '../protocol.ts';
import { changedLines } from './changedLines.ts';
import { button, h, icon, type IconName } from './dom.ts';
import { blockElement, openWhole, type EntryView } from './entries.ts';
import { post } from './host.ts';
import { MarkdownText } from './markdown.ts';

const KINDS: Record<string, IconName> = {
  read: 'file',
  edit: 'pencil',
  delete: 'trash',
  move: 'file',
  search: 'search',
  execute: 'terminal',
  think: 'brain',
  fetch: 'globe',
};
const OUTPUT_SHOWN = 20_000;
const RAW_SHOWN = 20_000;
const DIFF_LINES = 12;
const MOST_PLACES = 5;
/** Kinds whose content is what they found: a file's own text, folded away. */
const FOUND = ['read', 'search', 'fetch'];
/** Kinds whose text is no Markdown unless it stands in a fence. */
const VERBATIM = ['execute', ...FOUND];

export class ToolView implements EntryView {
  readonly element = h('div', { class: 'entry tool' });
  private readonly head = h('div', { class: 'tool-head' });
  private readonly body = h('div', { class: 'tool-body' });
  private readonly output = h('pre', { class: 'output', tabindex: 0, 'aria-label': 'Output' });
  private readonly more = h('details', { class: 'raw' });
  private readonly drawn = new Map<string, unknown[]>();

  constructor() {
    this.element.append(this.head, this.body, this.output, this.more);
  }

  update(entry: Entry): void {
    const tool = entry as ToolEntry;
    this.element.dataset['status'] = tool.status;
    this.part('head', [tool.title, tool.status, tool.toolKind, tool.locations], () =>
      this.head.replaceChildren(...drawHead(tool)),
    );
    this.part('body', [tool.content, tool.toolKind], () => this.body.replaceChildren(...drawBody(tool)));
    this.part('output', [tool.output], () => this.drawOutput(tool.output ?? ''));
    this.part('raw', [tool.rawInput, tool.rawOutput], () => this.drawRaw(tool));
  }

  /** Draw one part of the card, only if what it shows has changed: what is unfolded in it stays so. */
  private part(name: string, values: unknown[], draw: () => void): void {
    const before = this.drawn.get(name);
    this.drawn.set(name, values);
    if (!before || values.some((value, at) => !same(value, before[at]))) {
      draw();
    }
  }

  private drawOutput(text: string): void {
    this.output.hidden = text.trim() === '';
    const atEnd = this.output.scrollTop + this.output.clientHeight >= this.output.scrollHeight - 8;
    this.output.replaceChildren(text.slice(-OUTPUT_SHOWN));
    if (text.length > OUTPUT_SHOWN) {
      const open = button('Open the whole output', () => openWhole('output')(text), 'link');
      this.output.prepend(open, `\n… ${(text.length - OUTPUT_SHOWN).toLocaleString()} characters before this\n`);
    }
    if (atEnd) {
      this.output.scrollTop = this.output.scrollHeight;
    }
  }

  private drawRaw(tool: ToolEntry): void {
    const parts = [
      ['Input', tool.rawInput],
      ['Result', tool.rawOutput],
    ].filter(([, value]) => value !== undefined && value !== null && Object.keys(Object(value)).length > 0);
    this.more.hidden = parts.length === 0;
    const shown = parts.flatMap(([label, value]) => {
      const text = typeof value === 'string' ? value : JSON.stringify(value, undefined, 1);
      return [h('div', { class: 'label' }, String(label)), h('pre', {}, text.slice(0, RAW_SHOWN))];
    });
    this.more.replaceChildren(h('summary', {}, 'Details'), ...shown);
  }
}

/** The title leads to the first place it is about; further places, and places it does not name, stand below. */
function drawHead(tool: ToolEntry): Node[] {
  const [first, ...others] = tool.locations;
  const named = first !== undefined && tool.title.includes(basename(first.path));
  const title = named ? placeLink(first, tool.title) : h('span', {}, tool.title);
  const places = (named || !first ? others : [first, ...others]).slice(0, MOST_PLACES);
  const links = places.map((place) => placeLink(place, basename(place.path) + lineNumber(place)));
  return [
    icon(KINDS[tool.toolKind ?? ''] ?? 'tool'),
    h('div', { class: 'tool-title' }, title, links.length > 0 && h('div', { class: 'places' }, ...links)),
    statusMark(tool.status),
  ];
}

function same(one: unknown, other: unknown): boolean {
  return one === other || (typeof one === 'object' && JSON.stringify(one) === JSON.stringify(other));
}

function placeLink(place: Location, text: string): HTMLElement {
  const go = () => post({ type: 'openFile', uri: place.uri, line: place.line ?? null });
  return h('button', { class: 'place', type: 'button', title: place.path + lineNumber(place), onclick: go }, text);
}

function lineNumber(place: Location): string {
  return typeof place.line === 'number' ? `:${place.line + 1}` : '';
}

function statusMark(status: string): HTMLElement {
  const words = status.replace('_', ' ');
  const marks: Record<string, Node> = {
    completed: icon('check', 'good'),
    failed: icon('cross', 'bad'),
    cancelled: icon('dash', 'muted'),
    pending: icon('circle', 'muted'),
  };
  const mark = marks[status] ?? h('span', { class: 'spinner' });
  return h('span', { class: 'status', role: 'img', title: words, 'aria-label': words }, mark);
}

function drawBody(tool: ToolEntry): HTMLElement[] {
  const kind = tool.toolKind ?? '';
  return (tool.content ?? []).map((content) => {
    if (content.type !== 'text' || content.text.startsWith('```') || !VERBATIM.includes(kind)) {
      return drawContent(content);
    }
    const shown = h('pre', { class: 'verbatim', tabindex: 0 }, content.text.slice(0, RAW_SHOWN));
    return FOUND.includes(kind) ? folded(shown, content.text) : shown;
  });
}

function folded(shown: HTMLElement, text: string): HTMLElement {
  const lines = text.trimEnd().split('\n').length;
  return h('details', {}, h('summary', {}, `${lines} ${lines === 1 ? 'line' : 'lines'}`), shown);
}

function drawContent(content: ToolContent): HTMLElement {
  switch (content.type) {
    case 'diff':
      return drawDiff(content);
    case 'text': {
      const text = new MarkdownText(openWhole('tool'));
      text.update(content.text);
      return text.element;
    }
    case 'block':
      return blockElement(content.block as any);
    default:
      return h('div', { class: 'muted' }, icon('terminal'), ` terminal ${content.terminalId}`);
  }
}

function drawDiff(diff: ToolDiff): HTMLElement {
  const changed = changedLines(diff.oldText, diff.newText, DIFF_LINES);
  const open = () => post({ type: 'openDiff', path: diff.path, oldText: diff.oldText, newText: diff.newText });
  const go = () => post({ type: 'openFile', uri: diff.uri });
  const head = h(
    'div',
    { class: 'diff-head' },
    h('button', { class: 'link path', type: 'button', title: diff.path, onclick: go }, basename(diff.path)),
    h('span', { class: 'added' }, `+${changed.added}`),
    h('span', { class: 'removed' }, `−${changed.removed}`),
    button('Open diff', open, 'small'),
  );
  const signs = { same: ' ', removed: '−', added: '+', skip: ' ' };
  const lines = changed.lines.map((line) => h('div', { class: line.kind }, `${signs[line.kind]} ${line.text}`));
  return h('div', { class: 'diff' }, head, h('div', { class: 'diff-lines' }, ...lines));
}

export function basename(path: string): string {
  return path.split(/[\\/]/).at(-1) ?? path;
}
