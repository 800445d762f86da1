import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Entry, Op } from '../src/protocol.ts';
import { Thread } from '../src/thread.ts';

const agent = (id: string, text = ''): Entry => ({ id, kind: 'agent', turnId: 't1', text });
const texts = (thread: Thread) => thread.order.map((id) => `${id}:${(thread.get(id) as { text?: string }).text}`);

function loaded(entries: Entry[] = [agent('a', 'one')]): Thread {
  const thread = new Thread();
  thread.load({ epoch: 'e', rev: 5, entries });
  thread.take();
  return thread;
}

const changed = (fromRev: number, rev: number, ...ops: Op[]) => ({ sessionId: 's', epoch: 'e', fromRev, rev, ops });

test('appends grow a field, an absent one from empty', () => {
  const thread = loaded();
  assert.ok(thread.apply(changed(5, 6, { op: 'append', id: 'a', field: 'text', text: ' two' })));
  assert.ok(thread.apply(changed(6, 7, { op: 'append', id: 'a', field: 'output', text: 'x' })));
  assert.deepEqual(texts(thread), ['a:one two']);
  assert.equal((thread.get('a') as unknown as { output: string }).output, 'x');
  assert.deepEqual([...thread.take()], [['a', 'text']]);
  assert.deepEqual([...thread.take()], []);
});

test('put goes to the end, behind an entry, first, or replaces in place', () => {
  const thread = loaded([agent('a'), agent('b')]);
  const put = (id: string, after?: string | null): Op =>
    after === undefined ? { op: 'put', entry: agent(id, 'new') } : { op: 'put', entry: agent(id, 'new'), after };
  assert.ok(thread.apply(changed(5, 6, put('c'), put('d', 'a'), put('e', null), put('b'), put('c', 'e'))));
  assert.deepEqual(texts(thread), ['e:new', 'c:new', 'a:', 'd:new', 'b:new']);
});

test('patch sets whole fields, remove takes an entry away', () => {
  const thread = loaded([agent('a', 'one'), agent('b')]);
  assert.ok(thread.apply(changed(5, 6, { op: 'patch', id: 'a', set: { text: 'other' } }, { op: 'remove', id: 'b' })));
  assert.deepEqual(texts(thread), ['a:other']);
  assert.deepEqual([...thread.take()], [['a', 'whole'], ['b', 'removed']]);
});

test('a revision already here is ignored, whatever it says', () => {
  const thread = loaded();
  assert.ok(thread.apply(changed(3, 5, { op: 'remove', id: 'a' })));
  assert.deepEqual(texts(thread), ['a:one']);
});

test('a merged change that spans revisions applies from an older one on', () => {
  const thread = loaded();
  assert.ok(thread.apply(changed(5, 9, { op: 'append', id: 'a', field: 'text', text: '!' })));
  assert.equal(thread.rev, 9);
});

test('a gap or another epoch changes nothing and asks for a fetch', () => {
  const thread = loaded();
  const op: Op = { op: 'remove', id: 'a' };
  assert.equal(thread.apply(changed(6, 7, op)), false);
  assert.equal(thread.apply({ ...changed(5, 6, op), epoch: 'f' }), false);
  assert.deepEqual(texts(thread), ['a:one']);
});

test('an op about an entry that never was asks for a fetch; one before the first page does not', () => {
  const append: Op = { op: 'append', id: 'z', field: 'text', text: '!' };
  assert.equal(loaded().apply(changed(5, 6, append)), false);
  const paged = new Thread();
  paged.load({ epoch: 'e', rev: 5, entries: [agent('a')], prevCursor: 'a' });
  assert.equal(paged.apply(changed(5, 6, append)), true);
});

test('an earlier page goes in front, without what is known', () => {
  const thread = new Thread();
  thread.load({ epoch: 'e', rev: 5, entries: [agent('b')], prevCursor: 'b' });
  thread.prepend({ epoch: 'e', rev: 5, entries: [agent('a'), agent('b')] });
  assert.deepEqual(thread.order, ['a', 'b']);
  assert.equal(thread.earlier, undefined);
});
