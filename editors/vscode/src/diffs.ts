// Read-only documents for what agents show: both sides of a diff, long outputs. Only the newest few are kept.
import * as path from 'node:path';
import * as vscode from 'vscode';

const SCHEME = 'acp-bridge-text';
const KEPT = 40;

export class ShownTexts implements vscode.TextDocumentContentProvider, vscode.Disposable {
  private readonly texts = new Map<string, string>();
  private readonly registration = vscode.workspace.registerTextDocumentContentProvider(SCHEME, this);
  private count = 0;

  provideTextDocumentContent(uri: vscode.Uri): string {
    return this.texts.get(uri.query) ?? 'This text is no longer kept. Open it from the chat again.\n';
  }

  /** Open the diff editor on two texts of one file; its name decides the language. */
  async openDiff(file: string, oldText: string | null, newText: string): Promise<void> {
    const left = this.keep(file, oldText ?? '');
    const right = this.keep(file, newText);
    const title = `${path.basename(file)} (${oldText === null ? 'new file' : 'change'})`;
    await vscode.commands.executeCommand('vscode.diff', left, right, title, { preview: true });
  }

  async openText(title: string, text: string): Promise<void> {
    const document = await vscode.workspace.openTextDocument(this.keep(`${title.replace(/[^\w.-]+/g, '-')}.txt`, text));
    await vscode.window.showTextDocument(document, { preview: true });
  }

  dispose(): void {
    this.registration.dispose();
    this.texts.clear();
  }

  private keep(file: string, text: string): vscode.Uri {
    const key = String(++this.count);
    this.texts.set(key, text);
    for (const old of this.texts.keys()) {
      if (this.texts.size <= KEPT) {
        break;
      }
      this.texts.delete(old);
    }
    return vscode.Uri.from({ scheme: SCHEME, path: file.startsWith('/') ? file : `/${file}`, query: key });
  }
}
