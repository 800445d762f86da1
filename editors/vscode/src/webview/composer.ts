// Where the user writes: the prompt box with its buttons, the session's options, and the prompts that wait.
import type { Problem } from '../messages.ts';
import type { Json, Session } from '../protocol.ts';
import { h, icon, iconButton } from './dom.ts';
import { call, keep, kept, prompt } from './host.ts';

const HIGHEST = 240;
const RUNNING = ['running', 'requires_action', 'cancelling'];
const CONTROLS: Record<string, 'select' | 'toggle'> = { select: 'select', boolean: 'toggle' };

export class Composer {
  readonly element = h('div', { class: 'composer' });
  private readonly queue = h('div', { class: 'queue' });
  private readonly commands = h('div', { class: 'commands', role: 'listbox', 'aria-label': 'Commands' });
  private readonly options = h('div', { class: 'options-row' });
  private readonly box = h('textarea', {
    class: 'prompt',
    rows: 1,
    'aria-label': 'Prompt',
    oninput: () => this.edited(),
    onkeydown: (event: KeyboardEvent) => this.key(event),
  });
  private readonly send = iconButton('send', 'Send (Enter)', () => this.submit(), 'send');
  private readonly stop = iconButton('stop', 'Cancel the turn (Escape)', () => this.cancel(), 'stop-button');
  private session: Session | undefined;
  private shownOptions = '';

  constructor(private readonly failed: (problem: Problem) => void) {
    const field = h('div', { class: 'field' }, this.box, h('div', { class: 'tools' }, this.options, this.stop, this.send));
    this.element.append(this.queue, this.commands, field);
    this.box.value = kept().draft ?? '';
    this.update(undefined, 'an agent');
    this.edited();
  }

  focus(): void {
    this.box.focus();
  }

  update(session: Session | undefined, agentName: string): void {
    this.session = session;
    const running = RUNNING.includes(session?.state ?? '');
    this.stop.hidden = !running;
    this.stop.disabled = session?.state === 'cancelling';
    this.box.placeholder = running ? `Queue a prompt for ${agentName}` : `Ask ${agentName}`;
    this.fit();
    this.drawQueue();
    this.drawOptions();
  }

  /** Make the box as high as its text; before it is on the page it has no height to measure. */
  fit(): void {
    this.box.style.height = 'auto';
    if (this.box.scrollHeight > 0) {
      this.box.style.height = `${Math.min(this.box.scrollHeight, HIGHEST)}px`;
    }
  }

  private edited(): void {
    this.fit();
    this.send.disabled = this.box.value.trim() === '';
    keep({ draft: this.box.value });
    this.drawCommands();
  }

  private key(event: KeyboardEvent): void {
    if (event.isComposing) {
      return;
    }
    if (event.key === 'Enter' && !event.shiftKey && !event.altKey) {
      event.preventDefault();
      void this.submit();
    } else if (event.key === 'Tab' && !event.shiftKey && this.commands.firstElementChild) {
      event.preventDefault();
      (this.commands.firstElementChild as HTMLElement).click();
    } else if (event.key === 'Escape' && !this.stop.hidden) {
      void this.cancel();
    }
  }

  private async submit(): Promise<void> {
    const text = this.box.value.trim();
    if (text === '') {
      return;
    }
    this.write('');
    try {
      await prompt(text);
    } catch (problem) {
      this.write(this.box.value || text);
      this.failed(problem as Problem);
    }
  }

  private write(text: string): void {
    this.box.value = text;
    this.edited();
  }

  private cancel(): Promise<void> {
    return this.ask('acp/session/cancel', {});
  }

  private async ask(method: 'acp/session/cancel' | 'acp/session/queue' | 'acp/session/setConfigOption', params: Json): Promise<void> {
    if (!this.session) {
      return;
    }
    try {
      await call(method, { sessionId: this.session.sessionId, ...params });
    } catch (problem) {
      this.failed(problem as Problem);
    }
  }

  private drawCommands(): void {
    const word = /^\/(\S*)$/.exec(this.box.value)?.[1];
    const known = word === undefined ? [] : (this.session?.commands ?? []);
    const fitting = known.filter((command) => String(command['name']).startsWith(word ?? '')).slice(0, 8);
    this.commands.replaceChildren(
      ...fitting.map((command) => {
        const take = () => {
          this.write(`/${command['name']} `);
          this.box.focus();
        };
        const name = h('span', { class: 'strong' }, `/${command['name']}`);
        const about = h('span', { class: 'muted' }, String(command['description'] ?? ''));
        return h('button', { class: 'command', type: 'button', role: 'option', onclick: take }, name, about);
      }),
    );
  }

  private drawQueue(): void {
    const queue = this.session?.queue;
    const items = (queue?.items ?? []).map((item) => {
      const text = item.blocks.map((block) => (block.type === 'text' ? String(block['text']) : `[${block.type}]`)).join(' ');
      const remove = () => void this.ask('acp/session/queue', { action: 'remove', turnId: item.turnId });
      const now = () => void this.ask('acp/session/queue', { action: 'sendNow', turnId: item.turnId });
      return h(
        'div',
        { class: 'queued' },
        h('span', { class: 'queued-text', title: text }, text),
        iconButton('send', 'Send now (cancels the current turn)', now),
        iconButton('cross', 'Remove', remove),
      );
    });
    const resume = () => void this.ask('acp/session/queue', { action: 'resume' });
    const held = queue?.held && items.length > 0;
    this.queue.replaceChildren(
      ...(items.length > 0 ? [h('div', { class: 'label' }, held ? 'Held' : 'Waiting')] : []),
      ...items,
      ...(held ? [h('button', { class: 'button small', type: 'button', onclick: resume }, 'Send them now')] : []),
    );
  }

  private drawOptions(): void {
    const options = (this.session?.configOptions ?? []).filter((option) => option['type'] in CONTROLS);
    const key = JSON.stringify(options);
    if (key !== this.shownOptions) {
      this.shownOptions = key;
      this.options.replaceChildren(...options.map((option) => this[CONTROLS[option['type']]!](option)));
    }
  }

  private toggle(option: Json): HTMLElement {
    const name = String(option['name'] ?? option['id']);
    const on = option['currentValue'] === true;
    const flip = () => void this.ask('acp/session/setConfigOption', { configId: option['id'], value: !on });
    const props = { class: `toggle ${on ? 'on' : ''}`, type: 'button', 'aria-pressed': String(on), title: name };
    return h('button', { ...props, onclick: flip }, name);
  }

  private select(option: Json): HTMLElement {
    const choices: HTMLElement[] = [];
    for (const choice of (option['options'] as Json[] | undefined) ?? []) {
      for (const one of (choice['options'] as Json[] | undefined) ?? [choice]) {
        const selected = one['value'] === option['currentValue'];
        choices.push(h('option', { value: String(one['value']), selected }, String(one['name'] ?? one['value'])));
      }
    }
    const label = String(option['name'] ?? option['id']);
    const change = (event: Event) => {
      const { value } = event.target as HTMLSelectElement;
      void this.ask('acp/session/setConfigOption', { configId: option['id'], value });
    };
    return h('span', { class: 'select' }, h('select', { title: label, 'aria-label': label, onchange: change }, ...choices), icon('chevron'));
  }
}
