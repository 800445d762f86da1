// The part of a file that a change touches, with a little around it: enough to judge it, cheap on large files.

export interface Line {
  kind: 'same' | 'removed' | 'added' | 'skip';
  text: string;
}

export interface ChangedLines {
  lines: Line[];
  added: number;
  removed: number;
}

const CONTEXT = 2;

/** Lines between the common start and the common end of two texts, at most `most` of each kind. */
export function changedLines(oldText: string | null, newText: string, most: number): ChangedLines {
  const before = split(oldText ?? '');
  const after = split(newText);
  const shorter = Math.min(before.length, after.length);
  let start = 0;
  while (start < shorter && before[start] === after[start]) {
    start++;
  }
  let end = 0;
  while (end < shorter - start && before[before.length - 1 - end] === after[after.length - 1 - end]) {
    end++;
  }
  const removed = before.slice(start, before.length - end);
  const added = after.slice(start, after.length - end);
  const lines = [
    ...before.slice(Math.max(0, start - CONTEXT), start).map((text) => line('same', text)),
    ...capped(removed, most, 'removed'),
    ...capped(added, most, 'added'),
    ...after.slice(after.length - end, after.length - end + CONTEXT).map((text) => line('same', text)),
  ];
  return { lines, added: added.length, removed: removed.length };
}

function line(kind: Line['kind'], text: string): Line {
  return { kind, text };
}

function capped(texts: string[], most: number, kind: Line['kind']): Line[] {
  const shown = texts.slice(0, most).map((text) => line(kind, text));
  return texts.length > most ? [...shown, line('skip', `… ${texts.length - most} more lines`)] : shown;
}

function split(text: string): string[] {
  return text === '' ? [] : text.replace(/\n$/, '').split('\n');
}
