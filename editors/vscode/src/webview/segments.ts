// Where a growing Markdown text can be cut so that what stands before the cut never changes again.

const FENCE = /^\s*(`{3,}|~{3,})/;

/**
 * The end of the last finished block after `from` (a block's start), or `from`: blocks end at a blank line outside
 * a fence, followed by a line that is no continuation of it (not indented).
 */
export function finishedUpTo(text: string, from: number): number {
  let finished = from;
  let fence = '';
  let blank = false;
  for (let start = from; start < text.length; ) {
    const newline = text.indexOf('\n', start);
    const line = text.slice(start, newline < 0 ? text.length : newline);
    if (!fence && blank && line.trim() !== '' && !/^\s/.test(line)) {
      finished = start;
    }
    const mark = FENCE.exec(line)?.[1] ?? '';
    if (!fence) {
      fence = mark;
    } else if (mark.startsWith(fence) && line.trim() === mark) {
      fence = '';
    }
    blank = line.trim() === '';
    if (newline < 0) {
      break;
    }
    start = newline + 1;
  }
  return finished;
}

/** The language and the start of the code, if `text` begins with a fence that is still open; else undefined. */
export function openFence(text: string): { language: string; code: string } | undefined {
  const [, mark, language, code] = /^(`{3,}|~{3,})([^\n`]*)\n([^]*)$/.exec(text) ?? [];
  if (mark === undefined || code === undefined) {
    return undefined;
  }
  const closed = code.split('\n').some((line) => line.trim().startsWith(mark) && !line.trim().replaceAll(mark[0]!, ''));
  return closed ? undefined : { language: language?.trim() ?? '', code };
}
