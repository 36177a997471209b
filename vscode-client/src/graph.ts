// The autograd graph of the tensor under the cursor, as DOT text beside the program.

import * as vscode from "vscode";
import { LanguageClient } from "vscode-languageclient/node";

interface Graph {
  name: string;
  dot: string;
}

export async function showGraph(client: LanguageClient | undefined): Promise<void> {
  const editor = vscode.window.activeTextEditor;
  if (client === undefined || editor === undefined) {
    void vscode.window.showInformationMessage("autograd-lsp is not running.");
    return;
  }
  const graph = await client.sendRequest<Graph | null>("autograd/graph", {
    textDocument: client.code2ProtocolConverter.asTextDocumentIdentifier(editor.document),
    position: client.code2ProtocolConverter.asPosition(editor.selection.active),
  });
  if (graph === null) {
    void vscode.window.showInformationMessage("autograd-lsp knows of no tensor here.");
    return;
  }
  const document = await vscode.workspace.openTextDocument({ language: "dot", content: graph.dot });
  await vscode.window.showTextDocument(document, { viewColumn: vscode.ViewColumn.Beside, preserveFocus: true });
}
