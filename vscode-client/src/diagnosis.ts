// Whether an interpreter can run the server; if not, what is wrong and what the user can do about it.

import { execFile } from "node:child_process";

export type Diagnosis =
  | { kind: "ready" }
  | { kind: "not-installed" }
  | { kind: "too-old"; version: string }
  | { kind: "not-found" }
  | { kind: "broken"; details: string };

export type Action = "install" | "interpreter" | "settings" | "output";

const OLDEST = [3, 10];

// Written for any Python there is, so that an old one can still say how old it is.
const QUESTION = `
import sys
try:
    from importlib.util import find_spec
    found = find_spec("autograd_lsp") is not None
except ImportError:
    found = False
print("autograd-lsp: %d.%d.%d %s" % (sys.version_info[0], sys.version_info[1], sys.version_info[2], found))
`;

export function diagnose(python: string, env: NodeJS.ProcessEnv, cwd: string | undefined): Promise<Diagnosis> {
  return new Promise((resolve) => {
    execFile(python, ["-c", QUESTION], { env, cwd, timeout: 30_000 }, (error, stdout, stderr) => {
      resolve(conclude(error, stdout, stderr));
    });
  });
}

export function conclude(
  error: (Error & { code?: string | number | null }) | null,
  stdout: string,
  stderr: string,
): Diagnosis {
  if (error !== null) {
    return error.code === "ENOENT" || error.code === "EACCES"
      ? { kind: "not-found" }
      : { kind: "broken", details: stderr.trim() || error.message };
  }
  const answer = /^autograd-lsp: (\d+)\.(\d+)\.(\d+) (True|False)$/m.exec(stdout.replaceAll("\r", ""));
  if (answer === null) {
    return { kind: "broken", details: "it did not answer as Python does" };
  }
  const [major, minor, patch] = answer.slice(1, 4).map(Number);
  if (major < OLDEST[0] || (major === OLDEST[0] && minor < OLDEST[1])) {
    return { kind: "too-old", version: `${major}.${minor}.${patch}` };
  }
  return answer[4] === "True" ? { kind: "ready" } : { kind: "not-installed" };
}

export function explain(
  python: string,
  diagnosis: Exclude<Diagnosis, { kind: "ready" }>,
): { text: string; actions: Action[] } {
  switch (diagnosis.kind) {
    case "not-installed":
      return {
        text: `autograd-lsp is not installed for ${python}.`,
        actions: ["install", "interpreter", "settings"],
      };
    case "too-old":
      return {
        text: `autograd-lsp needs Python ${OLDEST.join(".")} or newer, and ${python} is ${diagnosis.version}.`,
        actions: ["interpreter", "settings"],
      };
    case "not-found":
      return {
        text: `autograd-lsp cannot start: there is no Python at ${python}.`,
        actions: ["interpreter", "settings"],
      };
    case "broken":
      return {
        text: `autograd-lsp cannot start: ${python} does not run.`,
        actions: ["output", "interpreter", "settings"],
      };
  }
}

export function installCommand(python: string): string {
  return `${/\s/.test(python) ? `"${python}"` : python} -m pip install autograd-lsp`;
}
