// What the user is offered when no server can start: how to install it, another interpreter, a closer look.

import * as vscode from "vscode";
import { NAME } from "./client";
import { PythonApi, defaultPythons } from "./command";
import { Action } from "./diagnosis";
import { Problem, PYTHON_EXTENSION } from "./server";

const TITLES: Record<Action, string> = {
  install: "How to Install",
  interpreter: "Select Interpreter",
  settings: "Open Settings",
  output: "Show Output",
};

/** `extension` is its name, with that of its publisher. */
export async function advise(problem: Problem, extension: string): Promise<void> {
  const answer = await vscode.window.showErrorMessage(problem.text, ...problem.actions.map((action) => TITLES[action]));
  switch (answer) {
    case TITLES.install:
      await vscode.commands.executeCommand("workbench.action.openWalkthrough", `${extension}#start`);
      break;
    case TITLES.interpreter:
      await vscode.commands.executeCommand(`${NAME}.selectInterpreter`);
      break;
    case TITLES.settings:
      await vscode.commands.executeCommand("workbench.action.openSettings", `${NAME}.`);
      break;
    case TITLES.output:
      await vscode.commands.executeCommand(`${NAME}.showOutput`);
      break;
  }
}

interface KnownEnvironments {
  environments: PythonApi["environments"] & {
    known: readonly { executable: { uri?: vscode.Uri }; version?: { sysVersion?: string } }[];
  };
}

interface Choice extends vscode.QuickPickItem {
  choose: () => string | PromiseLike<string | undefined>;
}

/** Writes the setting; that restarts the server. */
export async function selectInterpreter(): Promise<void> {
  const choices: Choice[] = [
    {
      label: "$(folder) Browse...",
      choose: async () => (await vscode.window.showOpenDialog({ title: "Python interpreter" }))?.[0]?.fsPath,
    },
    {
      label: "Use the Python extension's choice, else the default",
      description: defaultPythons()[0],
      choose: () => "",
    },
    ...(await knownInterpreters()).map((path) => ({ label: path, choose: () => path })),
  ];
  const choice = await vscode.window.showQuickPick(choices, { title: "The Python that runs autograd-lsp" });
  const path = await choice?.choose();
  if (path !== undefined) {
    await vscode.workspace
      .getConfiguration(NAME)
      .update("interpreter", path === "" ? undefined : path, vscode.ConfigurationTarget.Global);
  }
}

async function knownInterpreters(): Promise<string[]> {
  try {
    const api = await vscode.extensions.getExtension<KnownEnvironments>(PYTHON_EXTENSION)?.activate();
    const paths = api?.environments.known.map((environment) => environment.executable.uri?.fsPath) ?? [];
    return [...new Set(paths.filter((path) => path !== undefined))].sort();
  } catch {
    return [];
  }
}
