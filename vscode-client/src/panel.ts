// The graph view's other half: asks the server for the graph at the cursor, and goes where the view points.

import { randomBytes } from "node:crypto";
import * as vscode from "vscode";
import { FromView, Graph, GraphNode, Kept, Shown, ToView } from "./graph";
import { page } from "./page";
import { NAME } from "./client";
import { Servers } from "./servers";

const VIEW = `${NAME}.graph`;
/** How long the cursor rests before the view asks about it. */
const REST_MS = 150;

export class GraphPanel implements vscode.Disposable {
  private panel: vscode.WebviewPanel | undefined;
  private shown: Shown = { graph: null, text: "", follow: true };
  private asking: vscode.CancellationTokenSource | undefined;
  private timer: NodeJS.Timeout | undefined;
  /** The program last looked at: a view that has the focus leaves no editor active. */
  private editor: vscode.TextEditor | undefined;
  /** Where a click in the view has put the cursor, which is no reason to show another graph. */
  private revealed: vscode.Location | undefined;
  /** How many clicks are still on their way: an editor that comes to the front may keep its old cursor for long. */
  private revealing = 0;
  private readonly listeners: vscode.Disposable;

  constructor(
    private readonly servers: Servers,
    private readonly root: vscode.Uri,
  ) {
    this.notice(vscode.window.activeTextEditor);
    this.listeners = vscode.Disposable.from(
      vscode.window.onDidChangeActiveTextEditor((editor) => {
        this.notice(editor);
        this.followSoon();
      }),
      vscode.window.onDidChangeTextEditorSelection((event) => {
        if (event.textEditor === this.editor) {
          this.followSoon();
        }
      }),
      vscode.workspace.onDidChangeTextDocument((event) => {
        if (event.document === this.editor?.document && event.contentChanges.length > 0) {
          this.revealed = undefined;
          this.followSoon();
        }
      }),
      servers.onDidChange(() => {
        this.followSoon();
      }),
      vscode.window.registerWebviewPanelSerializer(VIEW, {
        deserializeWebviewPanel: (panel, state: Kept | undefined) => {
          this.shown = state?.shown ?? this.shown;
          this.adopt(panel);
          return Promise.resolve();
        },
      }),
    );
  }

  dispose(): void {
    clearTimeout(this.timer);
    this.asking?.cancel();
    this.panel?.dispose();
    this.listeners.dispose();
  }

  open(): void {
    this.notice(vscode.window.activeTextEditor);
    this.revealed = undefined;
    if (this.panel === undefined) {
      const column = { viewColumn: vscode.ViewColumn.Beside, preserveFocus: true };
      const follow = vscode.workspace.getConfiguration(NAME).get("graph.follow", true);
      this.shown = { graph: null, text: "", follow };
      this.adopt(vscode.window.createWebviewPanel(VIEW, "Autograd Graph", column, { enableScripts: true }));
    } else {
      this.panel.reveal(undefined, true);
    }
    void this.ask();
  }

  export(): void {
    this.send({ type: "export" });
  }

  private notice(editor: vscode.TextEditor | undefined): void {
    if (editor?.document.languageId === "python") {
      this.editor = editor;
    }
  }

  private adopt(panel: vscode.WebviewPanel): void {
    this.panel = panel;
    const { webview } = panel;
    const dist = vscode.Uri.joinPath(this.root, "dist");
    webview.options = { enableScripts: true, localResourceRoots: [dist] };
    const resource = (name: string) => webview.asWebviewUri(vscode.Uri.joinPath(dist, name)).toString();
    webview.html = page(randomBytes(16).toString("base64"), resource("view.js"), resource("view.css"));
    webview.onDidReceiveMessage((message: FromView) => {
      void this.receive(message);
    });
    panel.onDidChangeViewState(() => {
      this.followSoon();
    });
    panel.onDidDispose(() => {
      this.panel = undefined;
      this.asking?.cancel();
      void vscode.commands.executeCommand("setContext", `${NAME}.graphOpen`, false);
    });
    void vscode.commands.executeCommand("setContext", `${NAME}.graphOpen`, true);
  }

  private async receive(message: FromView): Promise<void> {
    switch (message.type) {
      case "ready":
        this.send({ type: "show", shown: this.shown });
        break;
      case "follow":
        this.shown = { ...this.shown, follow: message.follow };
        this.revealed = undefined;
        this.followSoon();
        break;
      case "reveal": {
        const node = this.shown.graph?.nodes.find(({ id }) => id === message.node);
        if (node !== undefined) {
          await this.reveal(node);
        }
        break;
      }
      case "svg":
        await save(message.name, message.text, this.editor?.document.uri);
        break;
    }
  }

  private async reveal(node: GraphNode): Promise<void> {
    if (node.uri === undefined || node.range === null) {
      return;
    }
    const { start, end } = node.range;
    const range = new vscode.Range(start.line, start.character, end.line, end.character);
    const uri = vscode.Uri.parse(node.uri, true);
    const viewColumn = this.editor?.viewColumn ?? vscode.ViewColumn.One;
    this.revealed = new vscode.Location(uri, range.start);
    this.revealing += 1;
    try {
      const document = await vscode.workspace.openTextDocument(uri);
      const selection = new vscode.Range(range.start, range.start);
      const editor = await vscode.window.showTextDocument(document, { viewColumn, selection });
      editor.revealRange(range, vscode.TextEditorRevealType.InCenterIfOutsideViewport);
    } catch {
      void vscode.window.showWarningMessage(`${uri.fsPath} cannot be opened.`);
    } finally {
      this.revealing -= 1;
      this.followSoon();
    }
  }

  private followSoon(): void {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => {
      // Only now: an editor that comes to the front tells at first where its cursor was before.
      const mayAsk = this.panel?.visible === true && this.shown.follow && this.editor !== undefined;
      if (mayAsk && this.revealing === 0 && !this.wasRevealed()) {
        void this.ask();
      }
    }, REST_MS);
  }

  private wasRevealed(): boolean {
    const { document, selection } = this.editor ?? {};
    return (
      this.revealed?.uri.toString() === document?.uri.toString() &&
      this.revealed !== undefined &&
      selection !== undefined &&
      this.revealed.range.start.isEqual(selection.active)
    );
  }

  /** A question that is still open when the next one comes is given up. */
  private async ask(): Promise<void> {
    clearTimeout(this.timer);
    this.asking?.cancel();
    const asking = (this.asking = new vscode.CancellationTokenSource());
    const editor = this.editor;
    const server = this.servers.of(editor?.document.uri);
    const client = server?.client;
    if (editor === undefined) {
      this.show(null, "Put the cursor on a tensor.");
    } else if (server?.status.kind === "starting") {
      return; // it says when it is there
    } else if (client === undefined || !client.isRunning()) {
      this.show(null, "The server is not running. Run “autograd-lsp: Show Output” to see why.");
    } else {
      const { document, selection } = editor;
      const place = `${vscode.workspace.asRelativePath(document.uri)}:${selection.active.line + 1}`;
      try {
        const params = {
          textDocument: client.code2ProtocolConverter.asTextDocumentIdentifier(document),
          position: client.code2ProtocolConverter.asPosition(selection.active),
        };
        const graph = await client.sendRequest<Graph | null>("autograd/graph", params, asking.token);
        if (asking.token.isCancellationRequested) {
          return;
        }
        if (graph !== null) {
          this.show(graph, place);
        } else if (this.shown.graph === null) {
          this.show(null, `No tensor is known at ${place}. Put the cursor on one.`);
        }
      } catch (error) {
        if (!asking.token.isCancellationRequested) {
          this.show(null, `The server could not answer: ${error instanceof Error ? error.message : String(error)}`);
        }
      }
    }
  }

  private show(graph: Graph | null, text: string): void {
    this.shown = { graph, text, follow: this.shown.follow };
    if (this.panel !== undefined) {
      this.panel.title = graph === null ? "Autograd Graph" : `Graph of ${graph.name}`;
    }
    this.send({ type: "show", shown: this.shown });
  }

  /** A view that is hidden hears nothing; it says when it is ready again. */
  private send(message: ToView): void {
    void this.panel?.webview.postMessage(message);
  }
}

async function save(name: string, svg: string, beside: vscode.Uri | undefined): Promise<void> {
  const file = `${name.replace(/[^\w.-]+/g, "_") || "graph"}.svg`;
  const target = await vscode.window.showSaveDialog({
    defaultUri: beside?.scheme === "file" ? vscode.Uri.joinPath(beside, "..", file) : undefined,
    filters: { SVG: ["svg"] },
  });
  if (target !== undefined) {
    await vscode.workspace.fs.writeFile(target, Buffer.from(svg, "utf8"));
  }
}
