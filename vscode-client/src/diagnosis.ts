// What an interpreter is: which version, with the server or without; if it is no use, why, and what the user can do.

import { execFile } from "node:child_process";

export type Diagnosis =
  { kind: "python"; version: string; installed: boolean } | { kind: "not-found" } | { kind: "broken"; details: string };

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

export function diagnose(python: string, env: NodeJS.ProcessEnv, cwd: string): Promise<Diagnosis> {
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
  const answer = /^autograd-lsp: (\d+\.\d+\.\d+) (True|False)$/m.exec(stdout.replaceAll("\r", ""));
  return answer === null
    ? { kind: "broken", details: "it did not answer as Python does" }
    : { kind: "python", version: answer[1], installed: answer[2] === "True" };
}

export function isTooOld(version: string): boolean {
  const [major, minor] = version.split(".").map(Number);
  return major < OLDEST[0] || (major === OLDEST[0] && minor < OLDEST[1]);
}

/** Why no server can be started with an interpreter. `bundled` are the Pythons of the server in the extension. */
export function explain(
  python: string,
  diagnosis: Diagnosis,
  bundled: readonly string[],
): { text: string; actions: Action[] } {
  switch (diagnosis.kind) {
    case "python":
      if (isTooOld(diagnosis.version)) {
        return {
          text: `autograd-lsp needs Python ${OLDEST.join(".")} or newer, and ${python} is ${diagnosis.version}.`,
          actions: ["interpreter", "settings"],
        };
      }
      return {
        text:
          `autograd-lsp is not installed for ${python}` +
          (bundled.length > 0
            ? `, and the server in this extension is for Python ${bundled.join(", ")}, not ${diagnosis.version}.`
            : "."),
        actions: ["install", "interpreter", "settings"],
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
