// Building the page: elements from plain values, never from markup that came from outside.

type Child = Node | string | undefined | false;
type Props = { [name: string]: string | boolean | number | ((event: any) => void) | undefined };

/** An element with attributes (`on…` functions become listeners, `class` and booleans as usual) and children. */
export function h<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  props: Props = {},
  ...children: Child[]
): HTMLElementTagNameMap[K] {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(props)) {
    if (typeof value === 'function') {
      element.addEventListener(name.slice(2), value);
    } else if (value === true) {
      element.setAttribute(name, '');
    } else if (value !== undefined && value !== false) {
      element.setAttribute(name, String(value));
    }
  }
  element.append(...children.filter((child): child is Node | string => child !== undefined && child !== false));
  return element;
}

const PATHS = {
  check: 'M3 8.5 6.5 12 13 4.5',
  cross: 'M4 4l8 8M12 4l-8 8',
  dash: 'M4 8h8',
  circle: 'M8 3.5a4.5 4.5 0 1 0 0 9 4.5 4.5 0 0 0 0-9',
  send: 'M8 13V3M3.5 7.5 8 3l4.5 4.5',
  stop: 'M4.5 4.5h7v7h-7z',
  chevron: 'M6 3.5 10.5 8 6 12.5',
  down: 'M8 3v10M3.5 8.5 8 13l4.5-4.5',
  plus: 'M8 3v10M3 8h10',
  diff: 'M8 2.5v6M5 5.5h6M5 12.5h6',
  file: 'M4 2.5h5l3 3v8H4zM9 2.5v3h3',
  pencil: 'M3 13l.8-3L11 2.8 13.2 5 6 12.2z',
  terminal: 'M3 4.5 6.5 8 3 11.5M8 12h5',
  search: 'M7 3a4 4 0 1 0 0 8 4 4 0 0 0 0-8M10 10l3.5 3.5',
  globe: 'M8 2.5a5.5 5.5 0 1 0 0 11 5.5 5.5 0 0 0 0-11M2.5 8h11M8 2.5c-3 3.5-3 7.5 0 11 3-3.5 3-7.5 0-11',
  tool: 'M9.5 3.500a3 3 0 0 1 3.5 3.900L8 12.5 5.5 10l5-5z M5.5 10 3 12.5',
  shield: 'M8 2.5 13 4.500v3.500c0 3-2 4.8-5 6-3-1.2-5-3-5-6V4.500z',
  trash: 'M3.5 4.500h9M6.5 4.500v-2h3v2M5 4.500l.5 9h5l.5-9',
  warning: 'M8 2.5 14 13H2zM8 6.500v3M8 11.200v.3',
  info: 'M8 2.500a5.5 5.5 0 1 0 0 11 5.5 5.5 0 0 0 0-11M8 7.500v3.500M8 5v.3',
  brain: 'M5 6a3 3 0 1 1 5 2.200c-.7.6-1 1-1 1.800H7c0-.8-.3-1.2-1-1.800A3 3 0 0 1 5 6M7 12.500h2',
} as const;
export type IconName = keyof typeof PATHS;

export function icon(name: IconName, extra = ''): SVGSVGElement {
  const svg = document.createElementNS('http://www.w3.org/2000/svg', 'svg');
  svg.setAttribute('viewBox', '0 0 16 16');
  svg.setAttribute('class', `icon ${extra}`.trim());
  svg.setAttribute('aria-hidden', 'true');
  const path = document.createElementNS('http://www.w3.org/2000/svg', 'path');
  path.setAttribute('d', PATHS[name]);
  svg.append(path);
  return svg;
}

export function iconButton(name: IconName, label: string, onclick: () => void, extra = ''): HTMLButtonElement {
  const props = { class: `icon-button ${extra}`.trim(), type: 'button', title: label, 'aria-label': label };
  return h('button', { ...props, onclick }, icon(name));
}

export function button(text: string, onclick: () => void, extra = ''): HTMLButtonElement {
  return h('button', { class: `button ${extra}`.trim(), type: 'button', onclick }, text);
}
