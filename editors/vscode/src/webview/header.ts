// The line above the thread: which agent, which session, how it stands, how full its context is.
import type { ChatState } from '../messages.ts';
import type { Agent, Session, Usage } from '../protocol.ts';
import { h, icon } from './dom.ts';
import { post } from './host.ts';

const STATES: Record<string, string> = {
  idle: 'Ready',
  running: 'Working',
  requires_action: 'Waits for you',
  cancelling: 'Cancelling',
  detached: 'Detached',
  readonly: 'Read-only',
};
const SILENT_AFTER = 10;

export class Header {
  readonly element = h('header', { class: 'header' });
  private readonly status = h('span', { class: 'state', role: 'status' });
  private lastUpdate = Date.now();
  private session: Session | undefined;

  constructor() {
    setInterval(() => this.drawStatus(), 1000);
  }

  /** Something of the session on show has come. */
  heard(): void {
    this.lastUpdate = Date.now();
  }

  update(state: ChatState): void {
    const session = state.sessions.find((one) => one.sessionId === state.current);
    if (session?.turnId !== this.session?.turnId || session?.state !== this.session?.state) {
      this.heard();
    }
    this.session = session;
    this.element.hidden = session === undefined && state.agents.length === 0;
    this.element.replaceChildren(
      session ? sessionPicker(state, session) : agentPicker(state),
      ...(session?.usage ? usageMark(session.usage) : []),
      this.status,
    );
    this.drawStatus();
  }

  private drawStatus(): void {
    const state = this.session?.state;
    this.status.hidden = state === undefined;
    if (state === undefined) {
      return;
    }
    const silent = Math.floor((Date.now() - this.lastUpdate) / 1000);
    const since = state === 'running' && silent >= SILENT_AFTER ? ` · silent for ${silent} s` : '';
    const text = (STATES[state] ?? state) + since;
    if (this.status.textContent !== text) {
      this.status.dataset['state'] = state;
      this.status.replaceChildren(h('span', { class: 'dot', 'aria-hidden': 'true' }), text);
    }
  }
}

export function agentName(agents: Agent[], id: string | undefined): string {
  return agents.find((agent) => agent.id === id)?.displayName ?? id ?? 'an agent';
}

/** Before there is a session: which agent it will be. Agents that cannot be started say why. */
function agentPicker(state: ChatState): HTMLElement {
  const choices = state.agents.map((agent) =>
    h(
      'option',
      { value: agent.id, disabled: !agent.available, selected: agent.id === state.agent, title: agent.reason ?? '' },
      agent.available ? agent.displayName : `${agent.displayName} (${agent.reason ?? 'not available'})`,
    ),
  );
  const choose = (event: Event) => post({ type: 'chooseAgent', agent: (event.target as HTMLSelectElement).value });
  const picker = h('select', { class: 'agent-picker', 'aria-label': 'Agent', onchange: choose }, ...choices);
  return h('span', { class: 'select grow' }, picker, icon('chevron'));
}

function sessionPicker(state: ChatState, session: Session): HTMLElement {
  const name = (one: Session) => `${agentName(state.agents, one.agent)}${one.title ? ` · ${one.title}` : ''}`;
  if (state.sessions.length < 2) {
    return h('span', { class: 'session-name', title: `${name(session)}\n${session.cwd}` }, name(session));
  }
  const choices = state.sessions.map((one, index) => {
    const waits = one.pending.length > 0 ? ' (waits for you)' : '';
    const label = `${index + 1} · ${name(one)}${waits}`;
    return h('option', { value: one.sessionId, selected: one === session }, label);
  });
  const choose = (event: Event) => post({ type: 'select', sessionId: (event.target as HTMLSelectElement).value });
  const picker = h('select', { class: 'session-picker', 'aria-label': 'Session', onchange: choose }, ...choices);
  return h('span', { class: 'select grow' }, picker, icon('chevron'));
}

function usageMark(usage: Usage): HTMLElement[] {
  if (typeof usage.used !== 'number') {
    return [];
  }
  const parts = [`${usage.used.toLocaleString()} tokens`];
  if (usage.size) {
    parts.push(`of ${usage.size.toLocaleString()}`);
  }
  const cost = usage.cost ? `, cost ${usage.cost['amount']} ${usage.cost['currency'] ?? ''}` : '';
  const text = typeof usage.percent === 'number' ? `${usage.percent} %` : compact(usage.used);
  return [h('span', { class: 'usage muted', title: `Context: ${parts.join(' ')}${cost}` }, text)];
}

function compact(count: number): string {
  return count >= 1000 ? `${(count / 1000).toFixed(1)}k` : String(count);
}
