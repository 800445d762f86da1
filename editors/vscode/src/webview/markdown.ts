// Markdown that grows: finished blocks are drawn once, only the last one is drawn again; an open code block just
// gets its new text. Raw HTML is shown as text, images are not loaded, links are asked of the extension.
import MarkdownIt from 'markdown-it';
import { h } from './dom.ts';
import { finishedUpTo, openFence } from './segments.ts';

const markdown = new MarkdownIt({ html: false, linkify: true }).disable('image');

/** Longer texts are not drawn but offered to be opened in an editor, with their end shown. */
const LONGEST = 300_000;
const END_SHOWN = 20_000;

export class MarkdownText {
  readonly element = h('div', { class: 'markdown' });
  private text = '';
  private finished = 0;
  private tail = h('div');
  private code: Text | undefined;

  private readonly openWhole: (text: string) => void;

  constructor(openWhole: (text: string) => void) {
    this.openWhole = openWhole;
    this.element.append(this.tail);
  }

  /** Draw `text`; cheap where it only continues what was drawn. */
  update(text: string): void {
    if (text === this.text) {
      return;
    }
    if (text.length > LONGEST) {
      this.drawEnd(text);
      return;
    }
    const shown = this.text;
    this.text = text;
    if (this.code && text.startsWith(shown) && openFence(text.slice(this.finished))) {
      this.code.appendData(text.slice(shown.length));
      return;
    }
    if (!text.startsWith(shown)) {
      this.finished = 0;
      this.element.replaceChildren(this.tail);
    }
    const finished = finishedUpTo(text, this.finished);
    if (finished > this.finished) {
      this.tail.before(rendered(text.slice(this.finished, finished)));
      this.finished = finished;
    }
    this.drawTail(text.slice(finished));
  }

  private drawTail(text: string): void {
    const fence = openFence(text);
    this.code = fence && document.createTextNode(fence.code);
    const drawn = this.code ? h('div', {}, h('pre', {}, h('code', {}, this.code))) : rendered(text);
    this.tail.replaceWith(drawn);
    this.tail = drawn;
  }

  private drawEnd(text: string): void {
    this.text = text;
    const open = h('button', { class: 'link', type: 'button', onclick: () => this.openWhole(text) }, 'Open the whole text');
    const size = `${Math.round(text.length / 1000).toLocaleString()} thousand characters. `;
    this.element.replaceChildren(
      h('p', { class: 'muted' }, size, open),
      h('pre', {}, h('code', {}, text.slice(-END_SHOWN))),
    );
  }
}

/** HTML of an agent's text. markdown-it escapes all HTML in it and makes no link of a script. */
export function toHtml(text: string): string {
  return markdown.render(text);
}

function rendered(text: string): HTMLDivElement {
  const element = h('div');
  element.innerHTML = toHtml(text);
  return element;
}
