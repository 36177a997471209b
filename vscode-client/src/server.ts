// Which program is the server.

import * as vscode from "vscode";
import { Executable } from "vscode-languageclient/node";

/** By the settings, else by the Python extension's choice, else whatever `python3` is. */
export async function findServer(): Promise<Executable> {
  const settings = vscode.workspace.getConfiguration("autograd-lsp");
  const path = settings.get("path", "").trim();
  if (path !== "") {
    return { command: path, args: ["server", "--stdio"] };
  }
  const python = settings.get("interpreter", "").trim() || (await selectedInterpreter()) || defaultPython();
  return {
    command: python,
    args: ["-m", "autograd_lsp", "server", "--stdio"],
    // The workspace's own modules must not be imported in the place of the server's.
    options: { env: { ...process.env, PYTHONSAFEPATH: "1" } },
  };
}

async function selectedInterpreter(): Promise<string | undefined> {
  const python = vscode.extensions.getExtension("ms-python.python");
  if (python === undefined) {
    return undefined;
  }
  try {
    const api = await python.activate();
    const folder = vscode.workspace.workspaceFolders?.[0]?.uri;
    const environment = await api.environments.resolveEnvironment(api.environments.getActiveEnvironmentPath(folder));
    return environment?.executable.uri?.fsPath;
  } catch {
    return undefined; // an extension of another kind or age: as good as none
  }
}

function defaultPython(): string {
  return process.platform === "win32" ? "python" : "python3";
}
