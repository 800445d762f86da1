// The requests that wait for the user, above the prompt box: exactly what is asked, and the agent's own options.
import type { PendingRequest, PermissionRequest } from '../protocol.ts';
import type { Problem } from '../messages.ts';
import { h, icon } from './dom.ts';
import { call } from './host.ts';

const QUESTIONS: Record<PermissionRequest['action']['type'], string> = {
  shell: 'Run this command?',
  edit: 'Change this file?',
  read: 'Read this file?',
  delete: 'Delete this?',
  move: 'Move this?',
  fetch: 'Fetch this?',
  mode: 'Change the mode?',
  other: 'Allow this?',
};

export class Permissions {
  readonly element = h('div', { class: 'requests' });
  private readonly cards = new Map<string, HTMLElement>();

  constructor(private readonly failed: (problem: Problem) => void) {}

  update(pending: PendingRequest[]): void {
    const requests = pending
      .filter((item) => item.kind === 'permission')
      .map((item) => item.request as unknown as PermissionRequest);
    const waiting = new Set(requests.map((request) => request.requestId));
    for (const [id, card] of this.cards) {
      if (!waiting.has(id)) {
        card.remove();
        this.cards.delete(id);
      }
    }
    for (const request of requests) {
      if (!this.cards.has(request.requestId)) {
        const card = this.draw(request);
        this.cards.set(request.requestId, card);
        this.element.append(card);
      }
    }
  }

  private draw(request: PermissionRequest): HTMLElement {
    const options = request.options.map((option) =>
      h(
        'button',
        {
          class: `button option ${option.kind ?? ''} ${option.kind === 'allow_once' ? '' : 'secondary'}`,
          type: 'button',
          onclick: () => this.answer(request.requestId, option.optionId),
        },
        option.name,
      ),
    );
    return h(
      'section',
      { class: 'request', 'aria-label': 'Permission request' },
      h('div', { class: 'request-title' }, icon('shield'), h('span', { class: 'strong' }, QUESTIONS[request.action.type])),
      ...(request.title === request.action.details['command'] ? [] : [h('div', {}, request.title)]),
      ...subject(request),
      h('div', { class: 'options' }, ...options),
    );
  }

  private async answer(requestId: string, optionId: string): Promise<void> {
    const buttons = this.cards.get(requestId)?.querySelectorAll('button') ?? [];
    buttons.forEach((one) => (one.disabled = true));
    try {
      await call('acp/permission/answer', { requestId, optionId });
    } catch (problem) {
      buttons.forEach((one) => (one.disabled = false));
      this.failed(problem as Problem);
    }
  }
}

/** The exact command, paths or input that the request is about. */
function subject(request: PermissionRequest): HTMLElement[] {
  const { details } = request.action;
  if (typeof details['command'] === 'string') {
    const where = details['cwd'] ? [h('div', { class: 'muted' }, `in ${details['cwd']}`)] : [];
    return [h('pre', { class: 'subject' }, details['command']), ...where];
  }
  const paths = ((details['paths'] as { path: string }[] | undefined) ?? []).map((place) => place.path);
  if (paths.length > 0) {
    return [h('pre', { class: 'subject' }, paths.join('\n'))];
  }
  const input = details['rawInput'];
  const none = input === undefined || input === null || Object.keys(Object(input)).length === 0;
  return none ? [] : [h('pre', { class: 'subject' }, typeof input === 'string' ? input : JSON.stringify(input, undefined, 1))];
}
