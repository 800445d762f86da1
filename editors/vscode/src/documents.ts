// What the bridge asks of the editor's documents beyond edits: save one, without reformatting what an agent wrote.
import * as vscode from 'vscode';
import type { Done, UriParams } from './protocol.ts';

export async function saveDocument(params: UriParams): Promise<Done> {
  const uri = vscode.Uri.parse(params.uri).toString();
  const document = vscode.workspace.textDocuments.find((open) => open.uri.toString() === uri);
  if (!document) {
    return { ok: false, reason: 'the document is not open' };
  }
  if (!document.isDirty) {
    return { ok: true };
  }
  if (vscode.window.activeTextEditor?.document === document) {
    await vscode.commands.executeCommand('workbench.action.files.saveWithoutFormatting');
  } else {
    await document.save();
  }
  return document.isDirty ? { ok: false, reason: 'the editor could not save the document' } : { ok: true };
}
