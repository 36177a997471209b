// What the user is offered when the server cannot start: install it, choose another interpreter, look closer.

import * as vscode from "vscode";
import { PythonApi, defaultPython } from "./command";
import { Action, installCommand } from "./diagnosis";
import { NAME, Problem, PYTHON_EXTENSION } from "./server";

const TITLES: Record<Action, string> = {
  install: "Copy Install Command",
  interpreter: "Select Interpreter",
  settings: "Open Settings",
  output: "Show Output",
};

export async function advise(problem: Problem): Promise<void> {
  const answer = await vscode.window.showErrorMessage(problem.text, ...problem.actions.map((action) => TITLES[action]));
  switch (answer) {
    case TITLES.install:
      await offerInstallation(problem.python ?? defaultPython());
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

async function offerInstallation(python: string): Promise<void> {
  const command = installCommand(python);
  await vscode.env.clipboard.writeText(command);
  const restart = "Restart Server";
  const text = `Copied: ${command}. Run it in a terminal, then restart the server.`;
  if ((await vscode.window.showInformationMessage(text, restart)) === restart) {
    await vscode.commands.executeCommand(`${NAME}.restart`);
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
    { label: "Use the Python extension's choice, else the default", description: defaultPython(), choose: () => "" },
    ...(await knownInterpreters()).map((path) => ({ label: path, choose: () => path })),
  ];
  const choice = await vscode.window.showQuickPick(choices, { title: "The Python that has autograd-lsp installed" });
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
