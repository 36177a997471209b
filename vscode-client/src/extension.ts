// Starts the servers, shows the graph, decides nothing about autograd.

import * as vscode from "vscode";
import { Location, Position } from "vscode-languageclient/node";
import { advise, selectInterpreter } from "./advice";
import { findBundle } from "./bundle";
import { NAME } from "./client";
import { copyDebugInformation, Manifest } from "./debug";
import { GraphPanel } from "./panel";
import { SHOW, showReach } from "./reach";
import { PYTHON_EXTENSION } from "./server";
import { Servers } from "./servers";
import { showStatus } from "./status";

/** A change of one of these takes another server. */
const STARTS = ["path", "interpreter", "importStrategy"];

let running: Servers | undefined;

export function activate(context: vscode.ExtensionContext): void {
  const output = vscode.window.createOutputChannel(NAME, { log: true });
  const bundle = findBundle(context.extensionPath);
  const servers = new Servers({
    home: context.extensionPath,
    bundle,
    output,
    tell: (problem) => void advise(problem, context.extension.id),
  });
  running = servers;
  const graph = new GraphPanel(servers, context.extensionUri);
  const active = () => servers.of(vscode.window.activeTextEditor?.document.uri);
  const command = (name: string, run: () => unknown) => vscode.commands.registerCommand(`${NAME}.${name}`, run);
  context.subscriptions.push(
    output,
    servers,
    graph,
    showStatus(servers),
    command("restart", () => servers.restart()),
    command("showOutput", () => {
      output.show();
    }),
    command("selectInterpreter", selectInterpreter),
    command("copyDebugInformation", () => copyDebugInformation(context.extension.packageJSON as Manifest, active())),
    command("fixAll", fixAll),
    command("showGraph", () => {
      graph.open();
    }),
    command("exportGraph", () => {
      graph.export();
    }),
    vscode.commands.registerCommand(SHOW, (uri: string, position: Position, places: Location[]) => {
      const client = servers.of(vscode.Uri.parse(uri))?.client;
      return client && showReach(client, uri, position, places);
    }),
    vscode.workspace.onDidChangeConfiguration((event) => {
      if (STARTS.some((name) => event.affectsConfiguration(`${NAME}.${name}`))) {
        void servers.restart();
      }
    }),
    vscode.workspace.onDidGrantWorkspaceTrust(() => void servers.restart()),
  );
  void followPythonExtension(context, servers);
  void servers.restart();
}

export function deactivate(): Promise<void> | undefined {
  return running?.stop();
}

/** What is done on save where `editor.codeActionsOnSave` says so. */
function fixAll(): Thenable<unknown> {
  const action = { kind: `source.fixAll.${NAME}`, apply: "first" };
  return vscode.commands.executeCommand("editor.action.codeAction", action);
}

interface Announcing {
  environments?: { onDidChangeActiveEnvironmentPath?: vscode.Event<unknown> };
}

/** Another interpreter was selected there; the settings, where there are any, still come first. */
async function followPythonExtension(context: vscode.ExtensionContext, servers: Servers): Promise<void> {
  try {
    const api = await vscode.extensions.getExtension<Announcing | undefined>(PYTHON_EXTENSION)?.activate();
    const changed = api?.environments?.onDidChangeActiveEnvironmentPath?.(() => {
      const settings = vscode.workspace.getConfiguration(NAME);
      if (settings.get<string>("path", "") === "" && settings.get<string>("interpreter", "") === "") {
        void servers.restart();
      }
    });
    if (changed !== undefined) {
      context.subscriptions.push(changed);
    }
  } catch {
    // Without that extension there is nothing to follow.
  }
}
