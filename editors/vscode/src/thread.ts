// A thread as the bridge tells it: entries in order, changed by ops, with the epoch and revision rules.
// Knows neither VS Code nor the page; strings grow by appending and are never copied.
import type { Entry, Json, Op, ThreadChanged, ThreadPage } from './protocol.ts';

/** What happened to an entry; `text` may only have grown, `whole` means draw it anew. */
export type Change = 'text' | 'whole' | 'removed' | 'order';

export class Thread {
  epoch = '';
  rev = -1;
  /** Cursor of the entries before the first one held, if there are any. */
  earlier: string | undefined;
  order: string[] = [];
  private readonly entries = new Map<string, Entry>();
  /** Changes since the last `take`. */
  private changes = new Map<string, Change>();

  get(id: string): Entry | undefined {
    return this.entries.get(id);
  }

  take(): Map<string, Change> {
    const taken = this.changes;
    this.changes = new Map();
    return taken;
  }

  /** Start over from the newest page of a fetch. */
  load(page: ThreadPage): void {
    this.epoch = page.epoch;
    this.rev = page.rev;
    this.earlier = page.prevCursor ?? undefined;
    this.entries.clear();
    this.changes = new Map();
    this.order = [];
    for (const entry of page.entries ?? []) {
      this.put(entry, undefined);
    }
  }

  /** Put an earlier page in front. */
  prepend(page: ThreadPage): void {
    const known = (page.entries ?? []).filter((entry) => !this.entries.has(entry.id));
    for (const entry of known) {
      this.entries.set(entry.id, entry);
    }
    this.order.unshift(...known.map((entry) => entry.id));
    this.earlier = page.prevCursor ?? undefined;
  }

  /** Apply a change. False means that it does not join on to what is here: fetch the thread. */
  apply(changed: ThreadChanged): boolean {
    if (changed.epoch !== this.epoch || changed.fromRev > this.rev) {
      return false;
    }
    if (changed.rev <= this.rev) {
      return true;
    }
    for (const op of changed.ops) {
      if (!this.applyOp(op)) {
        this.epoch = '';
        return false;
      }
    }
    this.rev = changed.rev;
    return true;
  }

  private applyOp(op: Op): boolean {
    switch (op.op) {
      case 'put':
        this.put(op.entry, op.after);
        return true;
      case 'append': {
        const entry = this.entries.get(op.id) as (Entry & Json) | undefined;
        if (entry) {
          entry[op.field] = (entry[op.field] ?? '') + op.text;
          this.mark(op.id, 'text');
        }
        return this.holds(op.id);
      }
      case 'patch': {
        const entry = this.entries.get(op.id);
        if (entry) {
          Object.assign(entry, op.set);
          this.mark(op.id, 'whole');
        }
        return this.holds(op.id);
      }
      case 'remove':
        if (this.entries.delete(op.id)) {
          this.order.splice(this.order.indexOf(op.id), 1);
          this.mark(op.id, 'removed');
        }
        return true;
      default:
        return true;
    }
  }

  /** Whether an op about `id` needs no fetch: entries before the first page are simply not shown. */
  private holds(id: string): boolean {
    return this.entries.has(id) || this.earlier !== undefined;
  }

  private put(entry: Entry, after: string | null | undefined): void {
    const known = this.entries.has(entry.id);
    this.entries.set(entry.id, entry);
    if (known && after === undefined) {
      this.mark(entry.id, 'whole');
      return;
    }
    if (known) {
      this.order.splice(this.order.indexOf(entry.id), 1);
    }
    const at = after === undefined ? -1 : after === null ? 0 : this.order.indexOf(after) + 1;
    if (at < 0 || (at === 0 && after !== null)) {
      this.order.push(entry.id);
    } else {
      this.order.splice(at, 0, entry.id);
    }
    this.mark(entry.id, 'order');
  }

  private mark(id: string, change: Change): void {
    const before = this.changes.get(id);
    if (change === 'text' && before !== undefined) {
      return;
    }
    if (change === 'whole' && before === 'order') {
      return;
    }
    this.changes.set(id, change);
  }
}
