// The chat page: keeps the thread on show in step with the bridge and draws what changed, once a frame.
import { ACTIONS, type ChatState, type Problem, type ToPage } from '../messages.ts';
import type { ThreadChanged, ThreadPage } from '../protocol.ts';
import { Thread } from '../thread.ts';
import { Composer } from './composer.ts';
import { button, h, icon, iconButton } from './dom.ts';
import { entryView, type EntryView } from './entries.ts';
import { agentName, Header } from './header.ts';
import { call, post, settle } from './host.ts';
import { Permissions } from './permissions.ts';

const PAGE_SIZE = 200;
/** Entries drawn at most; older ones come back by the button above them. */
const DRAWN = 400;

class Chat {
  private readonly header = new Header();
  private readonly earlier = button('Show earlier', () => void this.showEarlier(), 'small earlier');
  private readonly entries = h('div', { class: 'entries' });
  private readonly welcome = h('div', { class: 'welcome' });
  private readonly scroller = h(
    'main',
    { class: 'thread', role: 'log', 'aria-live': 'off', 'aria-label': 'Conversation', tabindex: 0 },
    this.earlier,
    this.welcome,
    this.entries,
  );
  private readonly toLatest = iconButton('down', 'To the latest', () => this.scrollToEnd(), 'to-latest');
  private readonly problem = h('div', { class: 'problem', role: 'alert' });
  private readonly permissions = new Permissions((problem) => this.showProblem(problem));
  private readonly composer = new Composer((problem) => this.showProblem(problem));
  private readonly views = new Map<string, EntryView>();
  private state: ChatState = { phase: 'starting', agents: [], sessions: [] };
  private thread = new Thread();
  private shown: string | undefined;
  private loading = false;
  private follows = true;
  private scheduled = false;

  constructor() {
    const bottom = h('div', { class: 'bottom' }, this.problem, this.permissions.element, this.composer.element);
    const middle = h('div', { class: 'middle' }, this.scroller, this.toLatest);
    document.body.append(this.header.element, middle, bottom);
    this.problem.hidden = true;
    this.scroller.addEventListener('scroll', () => this.noteScroll());
    new ResizeObserver(() => this.resized()).observe(this.scroller);
    document.addEventListener('click', openLinks);
    this.drawState();
  }

  receive(message: ToPage): void {
    switch (message.type) {
      case 'state':
        this.state = message.state;
        this.schedule();
        this.showSession(message.state.current);
        return;
      case 'thread':
        this.changed(message.changed);
        return;
      case 'reply':
        settle(message.id, message.result, message.problem);
        return;
      case 'focus':
        this.composer.focus();
    }
  }

  private changed(changed: ThreadChanged): void {
    if (changed.sessionId !== this.shown || this.loading) {
      return;
    }
    this.header.heard();
    if (this.thread.apply(changed)) {
      this.schedule();
    } else {
      void this.load(changed.sessionId);
    }
  }

  private showSession(sessionId: string | undefined): void {
    if (sessionId === this.shown) {
      return;
    }
    this.shown = sessionId;
    this.thread = new Thread();
    this.drawAnew();
    if (sessionId !== undefined) {
      void this.load(sessionId);
    }
  }

  /** Fetch the thread; what comes meanwhile is in the answer, as both share one order. */
  private async load(sessionId: string): Promise<void> {
    this.loading = true;
    try {
      const { epoch, rev } = this.thread;
      const since = epoch ? { epoch, sinceRev: rev } : {};
      const page = await call<ThreadPage>('acp/thread/get', { sessionId, limit: PAGE_SIZE, ...since });
      if (sessionId === this.shown) {
        this.loading = false;
        this.take(page, sessionId);
      }
    } catch (problem) {
      this.loading = false;
      this.showProblem(problem as Problem);
    }
  }

  private take(page: ThreadPage, sessionId: string): void {
    if (page.entries) {
      this.thread.load(page);
      this.drawAnew();
      this.scrollToEnd();
    } else if (this.thread.apply({ ...page, sessionId, fromRev: this.thread.rev, ops: page.ops ?? [] })) {
      this.schedule();
    } else {
      void this.load(sessionId);
    }
  }

  private async showEarlier(): Promise<void> {
    const first = this.entries.firstElementChild as HTMLElement | null;
    const drawn = this.entries.childElementCount;
    if (drawn === this.thread.order.length && this.thread.earlier !== undefined && this.shown !== undefined) {
      const params = { sessionId: this.shown, before: this.thread.earlier, limit: PAGE_SIZE };
      this.thread.prepend(await call<ThreadPage>('acp/thread/get', params));
    }
    const end = this.thread.order.length - drawn;
    this.entries.prepend(...this.thread.order.slice(Math.max(0, end - PAGE_SIZE), end).map((id) => this.draw(id)));
    this.drawEdges();
    first?.scrollIntoView();
  }

  private schedule(): void {
    if (!this.scheduled) {
      this.scheduled = true;
      requestAnimationFrame(() => {
        this.scheduled = false;
        this.drawState();
        this.drawChanges();
      });
    }
  }

  private drawState(): void {
    const { state } = this;
    const session = state.sessions.find((one) => one.sessionId === state.current);
    const name = agentName(state.agents, session?.agent ?? state.agent);
    this.header.update(state);
    this.composer.update(session, name);
    this.permissions.update(session?.pending ?? []);
    this.drawEdges();
  }

  private drawChanges(): void {
    for (const [id, change] of this.thread.take()) {
      const view = this.views.get(id);
      const entry = this.thread.get(id);
      if (!entry || (change === 'order' && view)) {
        view?.element.remove();
        this.views.delete(id);
      }
      if (entry && change === 'order') {
        this.insert(id);
      } else if (entry) {
        view?.update(entry);
      }
    }
    while (this.entries.childElementCount > DRAWN && this.follows) {
      const first = this.entries.firstElementChild as HTMLElement;
      this.views.delete(first.dataset['id'] ?? '');
      first.remove();
    }
    this.drawEdges();
    if (this.follows) {
      this.scrollToEnd();
    }
  }

  /** Draw an entry at its place, behind the nearest drawn one before it. */
  private insert(id: string): void {
    const element = this.draw(id);
    for (let at = this.thread.order.indexOf(id) - 1; at >= 0; at--) {
      const before = this.views.get(this.thread.order[at] ?? '');
      if (before?.element.isConnected) {
        before.element.after(element);
        return;
      }
    }
    this.entries.prepend(element);
  }

  private draw(id: string): HTMLElement {
    const entry = this.thread.get(id);
    if (!entry) {
      return h('div', { hidden: true });
    }
    const view = entryView(entry);
    view.element.dataset['id'] = id;
    view.element.classList.toggle('nested', Boolean(entry.parent));
    view.update(entry);
    this.views.set(id, view);
    return view.element;
  }

  private drawAnew(): void {
    this.views.clear();
    this.entries.replaceChildren(...this.thread.order.slice(-PAGE_SIZE).map((id) => this.draw(id)));
    this.thread.take();
    this.drawEdges();
  }

  private drawEdges(): void {
    this.earlier.hidden = this.entries.childElementCount >= this.thread.order.length && this.thread.earlier === undefined;
    this.welcome.hidden = this.thread.order.length > 0;
    if (!this.welcome.hidden) {
      this.welcome.replaceChildren(...welcome(this.state));
    }
  }

  private resized(): void {
    this.composer.fit();
    if (this.follows) {
      this.scrollToEnd();
    }
  }

  private noteScroll(): void {
    const { scrollTop, clientHeight, scrollHeight } = this.scroller;
    this.follows = scrollTop + clientHeight >= scrollHeight - 24;
    this.toLatest.hidden = this.follows;
  }

  private scrollToEnd(): void {
    this.follows = true;
    this.toLatest.hidden = true;
    this.scroller.scrollTop = this.scroller.scrollHeight;
  }

  private showProblem(problem: Problem): void {
    const close = () => (this.problem.hidden = true);
    this.problem.replaceChildren(icon('warning'), problemText(problem), iconButton('cross', 'Dismiss', close));
    this.problem.hidden = false;
  }
}

/** What the empty thread says: what to do, or what is wrong. */
function welcome(state: ChatState): Node[] {
  if (state.phase === 'starting') {
    return [h('span', { class: 'spinner' }), h('p', { class: 'muted' }, 'Starting the bridge…')];
  }
  if (state.problem) {
    return [icon('warning', 'large'), problemText(state.problem)];
  }
  const text = state.agent
    ? `Write below to start a session with ${agentName(state.agents, state.agent)}.`
    : 'No agent can be started here. Install one, or name one in the settings.';
  const settings = state.agent ? [] : [button('Open Settings', () => post({ type: 'action', name: 'openSettings' }))];
  return [h('p', { class: 'muted' }, text), ...settings];
}

function problemText(problem: Problem): HTMLElement {
  const detail = problem.detail ? h('details', {}, h('summary', {}, 'Details'), h('pre', {}, problem.detail)) : undefined;
  const buttons = problem.actions.map((name) => button(ACTIONS[name], () => post({ type: 'action', name }), 'small'));
  return h(
    'div',
    { class: 'problem-text' },
    h('div', { class: 'strong' }, problem.message),
    problem.hint ? h('div', { class: 'muted' }, problem.hint) : undefined,
    detail,
    buttons.length > 0 ? h('div', { class: 'options' }, ...buttons) : undefined,
  );
}

/** Links in what agents write never load anything here: the extension opens them. */
function openLinks(event: MouseEvent): void {
  const href = (event.target as Element | null)?.closest('a')?.getAttribute('href');
  if (href) {
    event.preventDefault();
    event.stopPropagation();
    post({ type: 'openLink', href });
  }
}

const chat = new Chat();
window.addEventListener('message', (event: MessageEvent<ToPage>) => chat.receive(event.data));
post({ type: 'ready' });
