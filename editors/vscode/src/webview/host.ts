// The page's line to the extension.
import type { FromPage, PageMethod, Problem } from '../messages.ts';
import type { Json } from '../protocol.ts';

/** What the page keeps across being hidden. */
export interface Kept {
  draft?: string;
}

const vscode = acquireVsCodeApi<Kept>();
const waiting = new Map<number, { done: (result: any) => void; failed: (problem: Problem) => void }>();
let count = 0;

export function post(message: FromPage): void {
  vscode.postMessage(message);
}

/** Ask the bridge something; rejects with a Problem. */
export function call<R>(method: PageMethod, params: Json): Promise<R> {
  return ask((id) => ({ type: 'call', id, method, params }));
}

export function prompt(text: string): Promise<unknown> {
  return ask((id) => ({ type: 'prompt', id, text }));
}

export function settle(id: number, result: any, problem: Problem | undefined): void {
  const caller = waiting.get(id);
  waiting.delete(id);
  if (problem) {
    caller?.failed(problem);
  } else {
    caller?.done(result);
  }
}

export function kept(): Kept {
  return vscode.getState() ?? {};
}

export function keep(state: Kept): void {
  vscode.setState(state);
}

function ask<R>(message: (id: number) => FromPage): Promise<R> {
  const id = ++count;
  return new Promise((done, failed) => {
    waiting.set(id, { done, failed });
    post(message(id));
  });
}
