// Which program is the server, and which Python runs it: by the settings, else the Python extension's, else any.

import { homedir } from "node:os";
import { isAbsolute, join } from "node:path";
import { Bundle } from "./bundle";
import { Diagnosis, isTooOld } from "./diagnosis";

export type Strategy = "useBundled" | "fromEnvironment";

export interface Settings {
  path: string;
  interpreter: string;
  strategy: Strategy;
}

export interface Command {
  program: string;
  args: string[];
  /** Where the server comes from: a program of the user, the extension, or an interpreter's environment. */
  source: "path" | "bundled" | "environment";
}

/** An interpreter that was expected to run the server, and what it is instead. */
export interface Unfit {
  python: string;
  diagnosis: Diagnosis;
}

const SERVER = ["server", "--stdio"];

/** `ask` says what an interpreter is, `selected` which one the Python extension has for the folder. */
export async function chooseCommand(
  settings: Settings,
  folder: string | undefined,
  bundle: Bundle | undefined,
  selected: () => Promise<string | undefined>,
  ask: (python: string) => Promise<Diagnosis>,
  platform: NodeJS.Platform = process.platform,
): Promise<Command | Unfit> {
  const path = expanded(settings.path.trim(), folder);
  if (path !== "") {
    return { program: path, args: SERVER, source: "path" };
  }
  const chosen = expanded(settings.interpreter.trim(), folder);
  const pythons = chosen !== "" ? [chosen] : [await selected(), ...defaultPythons(platform)];
  let first: Unfit | undefined;
  for (const python of pythons.filter((python) => python !== undefined)) {
    const diagnosis = await ask(python);
    const command = diagnosis.kind === "python" ? commandFor(python, diagnosis, settings.strategy, bundle) : undefined;
    if (command !== undefined) {
      return command;
    }
    first ??= { python, diagnosis };
  }
  return first ?? { python: defaultPythons(platform)[0], diagnosis: { kind: "not-found" } };
}

/** The server in the extension, or that of the interpreter, by what is preferred and what there is. */
function commandFor(
  python: string,
  { version, installed }: { version: string; installed: boolean },
  strategy: Strategy,
  bundle: Bundle | undefined,
): Command | undefined {
  if (isTooOld(version)) {
    return undefined;
  }
  const carried = bundle?.pythons.includes(version.split(".").slice(0, 2).join("."));
  const bundled: Command | undefined =
    bundle && carried ? { program: python, args: [bundle.start, ...SERVER], source: "bundled" } : undefined;
  const own: Command | undefined = installed
    ? { program: python, args: ["-m", "autograd_lsp", ...SERVER], source: "environment" }
    : undefined;
  return strategy === "fromEnvironment" ? (own ?? bundled) : (bundled ?? own);
}

/** Where nobody has chosen one. The first is what the platform calls Python 3; it may be old, or too new. */
export function defaultPythons(platform: NodeJS.Platform = process.platform): string[] {
  return platform === "win32"
    ? ["python", "py"]
    : ["python3", ...[14, 13, 12, 11, 10].map((minor) => `python3.${minor}`)];
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
