import assert from "node:assert/strict";
import { test } from "node:test";
import { chooseCommand, defaultPythons, expanded, selectedPython, Settings } from "../src/command";
import { Diagnosis } from "../src/diagnosis";

const NO_SETTINGS: Settings = { path: "", interpreter: "", strategy: "useBundled" };
const BUNDLE = { start: "/x/start.py", pythons: ["3.10", "3.12"] };
const BUNDLED = ["/x/start.py", "server", "--stdio"];
const OWN = ["-m", "autograd_lsp", "server", "--stdio"];
const nothing = () => Promise.resolve(undefined);

/** Pythons by their paths: a version, with a `+` where the server is installed. All others are not there. */
function machine(pythons: Record<string, string>): (python: string) => Promise<Diagnosis> {
  return (path) => {
    const found = Object.hasOwn(pythons, path) ? pythons[path] : undefined;
    return Promise.resolve(
      found === undefined
        ? { kind: "not-found" }
        : { kind: "python", version: found.replace("+", ""), installed: found.endsWith("+") },
    );
  };
}

function choose(
  settings: Partial<Settings>,
  pythons: Record<string, string>,
  { bundle = BUNDLE, selected = undefined as string | undefined } = {},
) {
  const all = { ...NO_SETTINGS, ...settings };
  return chooseCommand(all, "/w", bundle, () => Promise.resolve(selected), machine(pythons), "linux");
}

test("a program that is set comes before everything", async () => {
  const command = await choose(
    { path: " /opt/autograd-lsp ", interpreter: "/opt/python" },
    { "/opt/python": "3.12.1+" },
  );
  assert.deepEqual(command, { program: "/opt/autograd-lsp", args: ["server", "--stdio"], source: "path" });
});

test("an interpreter that is set is the only one", async () => {
  const pythons = { "/selected": "3.12.1", python3: "3.12.1", "/opt/python": "3.10.2" };
  const command = await choose({ interpreter: "/opt/python" }, pythons, { selected: "/selected" });
  assert.deepEqual(command, { program: "/opt/python", args: BUNDLED, source: "bundled" });
  const missing = await choose({ interpreter: "/gone" }, pythons, { selected: "/selected" });
  assert.deepEqual(missing, { python: "/gone", diagnosis: { kind: "not-found" } });
});

test("without settings it is the selected one, and else what the machine has", async () => {
  const python = async (pythons: Record<string, string>, selected?: string) =>
    choose({}, pythons, { selected }).then((command) => ("program" in command ? command.program : command));
  assert.equal(await python({ "/selected": "3.12.1", python3: "3.12.1" }, "/selected"), "/selected");
  assert.equal(await python({ "/selected": "3.8.1", python3: "3.12.1" }, "/selected"), "python3");
  assert.equal(await python({ python3: "3.9.6", "python3.12": "3.12.1" }), "python3.12");
  assert.deepEqual(await python({ python3: "3.9.6" }), {
    python: "python3",
    diagnosis: { kind: "python", version: "3.9.6", installed: false },
  });
});

test("which server an interpreter runs is a setting; the other one is better than none", async () => {
  const args = async (settings: Partial<Settings>, version: string, bundle: typeof BUNDLE | undefined = BUNDLE) =>
    chooseCommand({ ...NO_SETTINGS, ...settings }, "/w", bundle, nothing, machine({ python3: version }), "linux").then(
      (command) => ("args" in command ? command.args : undefined),
    );
  assert.deepEqual(await args({}, "3.12.1+"), BUNDLED);
  assert.deepEqual(await args({ strategy: "fromEnvironment" }, "3.12.1+"), OWN);
  assert.deepEqual(await args({ strategy: "fromEnvironment" }, "3.12.1"), BUNDLED);
  assert.deepEqual(await args({}, "3.15.0+"), OWN);
  assert.equal(await args({}, "3.15.0"), undefined);
  assert.equal(await args({ strategy: "fromEnvironment" }, "3.9.1+"), undefined);
});

test("an extension without a server takes the interpreter's", async () => {
  const settings = { ...NO_SETTINGS, interpreter: "/opt/python" };
  const command = await chooseCommand(
    settings,
    "/w",
    undefined,
    nothing,
    machine({ "/opt/python": "3.12.1+" }),
    "linux",
  );
  assert.deepEqual(command, { program: "/opt/python", args: OWN, source: "environment" });
  const bare = await chooseCommand(settings, "/w", undefined, nothing, machine({ "/opt/python": "3.12.1" }), "linux");
  assert.ok("diagnosis" in bare);
});

test("the first guess is what the platform calls Python 3", () => {
  assert.equal(defaultPythons("linux")[0], "python3");
  assert.equal(defaultPythons("win32")[0], "python");
});

test("paths may start from home or from the workspace", () => {
  assert.equal(expanded("~/env/bin/python", "/w", "/home/me"), "/home/me/env/bin/python");
  assert.equal(expanded("${workspaceFolder}/.venv/bin/python", "/w"), "/w/.venv/bin/python");
  assert.equal(expanded(".venv/bin/python", "/w"), "/w/.venv/bin/python");
  assert.equal(expanded("python3.12", "/w"), "python3.12");
  assert.equal(expanded("/usr/bin/python3", "/w"), "/usr/bin/python3");
  assert.equal(expanded(".venv/bin/python", undefined), ".venv/bin/python");
});

test("the Python extension is asked for the folder's environment", async () => {
  const environments = {
    getActiveEnvironmentPath: (folder: unknown) => ({ path: `for ${String(folder)}` }),
    resolveEnvironment: (path: unknown) =>
      Promise.resolve({ executable: { uri: { fsPath: (path as { path: string }).path } } }),
  };
  assert.equal(await selectedPython(() => Promise.resolve({ environments }), "/w"), "for /w");
});

test("a Python extension that fails or knows no environment is as good as none", async () => {
  const environments = { getActiveEnvironmentPath: () => "", resolveEnvironment: () => Promise.resolve(undefined) };
  assert.equal(await selectedPython(() => Promise.resolve({ environments }), "/w"), undefined);
  assert.equal(await selectedPython(() => Promise.reject(new Error("old")), "/w"), undefined);
});
