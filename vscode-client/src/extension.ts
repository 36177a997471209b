// Starts the server, shows the graph, decides nothing about autograd.

import * as vscode from "vscode";
import { Location, Position } from "vscode-languageclient/node";
import { advise, selectInterpreter } from "./advice";
import { GraphPanel } from "./panel";
import { SHOW, showReach } from "./reach";
import { NAME, PYTHON_EXTENSION, Server } from "./server";
import { showStatus } from "./status";

let server: Server | undefined;

export function activate(context: vscode.ExtensionContext): void {
  const output = vscode.window.createOutputChannel(NAME, { log: true });
  const running = new Server(output, (problem) => void advise(problem));
  server = running;
  const graph = new GraphPanel(running, context.extensionUri);
  context.subscriptions.push(
    output,
    graph,
    showStatus(running),
    vscode.commands.registerCommand(`${NAME}.restart`, () => running.restart()),
    vscode.commands.registerCommand(`${NAME}.showOutput`, () => {
      output.show();
    }),
    vscode.commands.registerCommand(`${NAME}.selectInterpreter`, selectInterpreter),
    vscode.commands.registerCommand(`${NAME}.showGraph`, () => {
      graph.open();
    }),
    vscode.commands.registerCommand(
      SHOW,
      (uri: string, position: Position, places: Location[]) =>
        running.client && showReach(running.client, uri, position, places),
    ),
    vscode.commands.registerCommand(`${NAME}.exportGraph`, () => {
      graph.export();
    }),
    vscode.workspace.onDidChangeConfiguration((event) => {
      if (event.affectsConfiguration(`${NAME}.path`) || event.affectsConfiguration(`${NAME}.interpreter`)) {
        void running.restart();
      }
    }),
  );
  void followPythonExtension(context, running);
  void running.restart();
}

export function deactivate(): Promise<void> | undefined {
  return server?.stop();
}

interface Announcing {
  environments?: { onDidChangeActiveEnvironmentPath?: vscode.Event<unknown> };
}

/** Another interpreter was selected there; the settings, where there are any, still come first. */
async function followPythonExtension(context: vscode.ExtensionContext, running: Server): Promise<void> {
  try {
    const api = await vscode.extensions.getExtension<Announcing | undefined>(PYTHON_EXTENSION)?.activate();
    const changed = api?.environments?.onDidChangeActiveEnvironmentPath?.(() => {
      const settings = vscode.workspace.getConfiguration(NAME);
      if (settings.get<string>("path", "") === "" && settings.get<string>("interpreter", "") === "") {
        void running.restart();
      }
    });
    if (changed !== undefined) {
      context.subscriptions.push(changed);
    }
  } catch {
    // Without that extension there is nothing to follow.
  }
}
