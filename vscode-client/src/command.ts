// Which program is the server: by the settings, else by the Python extension's choice, else whatever `python3` is.

import { homedir } from "node:os";
import { isAbsolute, join } from "node:path";

export interface Command {
  program: string;
  args: string[];
  /** The interpreter among these, if it is one that was started. */
  python: string | undefined;
}

export interface Settings {
  path: string;
  interpreter: string;
}

export async function chooseCommand(
  settings: Settings,
  folder: string | undefined,
  selected: () => Promise<string | undefined>,
): Promise<Command> {
  const path = expanded(settings.path.trim(), folder);
  if (path !== "") {
    return { program: path, args: ["server", "--stdio"], python: undefined };
  }
  const python = expanded(settings.interpreter.trim(), folder) || (await selected()) || defaultPython();
  return { program: python, args: ["-m", "autograd_lsp", "server", "--stdio"], python };
}

export function defaultPython(platform: NodeJS.Platform = process.platform): string {
  return platform === "win32" ? "python" : "python3";
}

/** `~`, `${workspaceFolder}`, and paths that start from the workspace. A bare name is looked up on the PATH. */
export function expanded(path: string, folder: string | undefined, home: string = homedir()): string {
  if (/^~[\\/]/.test(path)) {
    return join(home, path.slice(2));
  }
  if (folder === undefined) {
    return path;
  }
  const full = path.replaceAll("${workspaceFolder}", folder);
  return /[\\/]/.test(full) && !isAbsolute(full) ? join(folder, full) : full;
}

/** The part of the Python extension's interface that is asked. */
export interface PythonApi {
  environments: {
    getActiveEnvironmentPath(folder?: unknown): unknown;
    resolveEnvironment(path: unknown): Promise<{ executable: { uri?: { fsPath: string } } } | undefined>;
  };
}

/** An extension of another kind or age is as good as none. */
export async function selectedPython(
  activate: () => PromiseLike<PythonApi>,
  folder: unknown,
): Promise<string | undefined> {
  try {
    const { environments } = await activate();
    const environment = await environments.resolveEnvironment(environments.getActiveEnvironmentPath(folder));
    return environment?.executable.uri?.fsPath;
  } catch {
    return undefined;
  }
}
