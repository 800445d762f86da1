import assert from 'node:assert/strict';
import { test } from 'node:test';
import { changedLines } from '../src/webview/changedLines.ts';
import { finishedUpTo, openFence } from '../src/webview/segments.ts';

const finished = (text: string) => text.slice(0, finishedUpTo(text, 0));

test('a block is finished once the next one has begun', () => {
  assert.equal(finished('one\n\n'), '');
  assert.equal(finished('one\n\ntwo'), 'one\n\n');
  assert.equal(finished('one\n\ntwo\nstill two\n\nthree'), 'one\n\ntwo\nstill two\n\n');
});

test('an indented line continues the block before it', () => {
  assert.equal(finished('- item\n\n  more of it'), '');
});

test('nothing is cut inside a fence, and a fence ends only at its own mark', () => {
  assert.equal(finished('```js\na\n\nb\n'), '');
  assert.equal(finished('````\n```\n\nb\n````\n\nafter'), '````\n```\n\nb\n````\n\n');
});

test('growing text is always cut where the whole text would be', () => {
  const text = 'intro\n\n```py\nx = 1\n\ny = 2\n```\n\n- a\n- b\n\nend of it\n\nlast';
  let from = 0;
  for (let end = 1; end <= text.length; end++) {
    from = finishedUpTo(text.slice(0, end), from);
  }
  assert.equal(from, finishedUpTo(text, 0));
});

test('an open fence gives its language and code, a closed one nothing', () => {
  assert.deepEqual(openFence('```py\nx = 1\n'), { language: 'py', code: 'x = 1\n' });
  assert.equal(openFence('```py\nx = 1\n```\n'), undefined);
  assert.equal(openFence('text ```'), undefined);
});

test('a change is shown with two lines around it and counted', () => {
  const { lines, added, removed } = changedLines('a\nb\nc\nd\ne\n', 'a\nb\nC\nX\nd\ne\n', 10);
  assert.deepEqual(lines.map(({ kind, text }) => `${kind} ${text}`), [
    'same a',
    'same b',
    'removed c',
    'added C',
    'added X',
    'same d',
    'same e',
  ]);
  assert.deepEqual([added, removed], [2, 1]);
});

test('a new file is all additions, a long one is cut and says so', () => {
  const { lines, added } = changedLines(null, 'x\n'.repeat(30), 3);
  assert.equal(added, 30);
  assert.deepEqual(lines.map((line) => line.kind), ['added', 'added', 'added', 'skip']);
  assert.match(lines[3]!.text, /27 more/);
});
