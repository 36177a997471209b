// Starts the server, shows the graph, decides nothing.

import * as vscode from "vscode";
import { LanguageClient, LanguageClientOptions } from "vscode-languageclient/node";
import { findServer } from "./server";
import { showGraph } from "./graph";

const NAME = "autograd-lsp";

let client: LanguageClient | undefined;
// Starting and stopping take their turns: a setting that changes twice must not leave two servers behind.
let turn: Promise<void> = Promise.resolve();

export function activate(context: vscode.ExtensionContext): Promise<void> {
  const output = vscode.window.createOutputChannel(NAME, { log: true });
  const restart = () => (turn = turn.then(stop).then(() => start(output)));
  context.subscriptions.push(
    output,
    vscode.commands.registerCommand(`${NAME}.restart`, restart),
    vscode.commands.registerCommand(`${NAME}.showOutput`, () => output.show()),
    vscode.commands.registerCommand(`${NAME}.showGraph`, () => showGraph(client)),
    vscode.workspace.onDidChangeConfiguration((event) => {
      if (event.affectsConfiguration(`${NAME}.path`) || event.affectsConfiguration(`${NAME}.interpreter`)) {
        void restart();
      }
    }),
  );
  return restart();
}

export function deactivate(): Promise<void> {
  return (turn = turn.then(stop));
}

/** While it starts, a failure goes to the log only: `explain` says the same with what to do about it. */
class Client extends LanguageClient {
  started = false;

  override error(message: string, data?: unknown, showNotification: boolean | "force" = true): void {
    super.error(message, data, this.started && showNotification);
  }
}

async function start(output: vscode.LogOutputChannel): Promise<void> {
  const server = await findServer();
  const command = [server.command, ...(server.args ?? [])].join(" ");
  output.info(`starting: ${command}`);
  const options: LanguageClientOptions = {
    documentSelector: [
      { language: "python", scheme: "file" },
      { language: "python", scheme: "untitled" },
    ],
    outputChannel: output,
    initializationFailedHandler: () => false,
  };
  const starting = new Client(NAME, NAME, server, options);
  try {
    await starting.start();
    starting.started = true;
    client = starting;
  } catch (error) {
    output.error(`${command}: ${error instanceof Error ? error.message : String(error)}`);
    await starting.dispose().catch(() => undefined);
    void explain(output, command);
  }
}

async function stop(): Promise<void> {
  const stopping = client;
  client = undefined;
  await stopping?.dispose().catch(() => undefined);
}

async function explain(output: vscode.LogOutputChannel, command: string): Promise<void> {
  const settings = "Open Settings";
  const details = "Show Output";
  const answer = await vscode.window.showErrorMessage(
    `autograd-lsp could not be started with \`${command}\`. ` +
      "Install it there (`pip install autograd-lsp`), or set `autograd-lsp.interpreter` or `autograd-lsp.path`.",
    settings,
    details,
  );
  if (answer === settings) {
    await vscode.commands.executeCommand("workbench.action.openSettings", `${NAME}.`);
  } else if (answer === details) {
    output.show();
  }
}
