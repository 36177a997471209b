import assert from "node:assert/strict";
import { test } from "node:test";
import { chooseCommand, defaultPython, expanded, selectedPython } from "../src/command";

const nothing = () => Promise.resolve(undefined);

test("a program that is set comes before everything", async () => {
  const command = await chooseCommand({ path: " /opt/autograd-lsp ", interpreter: "/opt/python" }, "/w", nothing);
  assert.deepEqual(command, { program: "/opt/autograd-lsp", args: ["server", "--stdio"], python: undefined });
});

test("an interpreter that is set comes before the selected one", async () => {
  const command = await chooseCommand({ path: "", interpreter: "/opt/python" }, "/w", () =>
    Promise.resolve("/selected/python"),
  );
  assert.equal(command.python, "/opt/python");
  assert.deepEqual(command.args, ["-m", "autograd_lsp", "server", "--stdio"]);
});

test("without settings it is the selected one, and without that the default", async () => {
  const settings = { path: "", interpreter: "" };
  const selected = await chooseCommand(settings, undefined, () => Promise.resolve("/selected/python"));
  assert.equal(selected.program, "/selected/python");
  assert.equal((await chooseCommand(settings, undefined, nothing)).program, defaultPython());
});

test("the default is what the platform calls Python 3", () => {
  assert.equal(defaultPython("linux"), "python3");
  assert.equal(defaultPython("win32"), "python");
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
