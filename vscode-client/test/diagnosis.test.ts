import assert from "node:assert/strict";
import { test } from "node:test";
import { conclude, diagnose, explain, isTooOld } from "../src/diagnosis";

const failed = (code: string | number) => Object.assign(new Error("failed"), { code });

test("what an interpreter answers", () => {
  const python = (version: string, installed: boolean) => ({ kind: "python", version, installed });
  assert.deepEqual(conclude(null, "autograd-lsp: 3.11.7 True\n", ""), python("3.11.7", true));
  assert.deepEqual(conclude(null, "autograd-lsp: 3.11.7 False\r\n", ""), python("3.11.7", false));
  assert.deepEqual(conclude(null, "autograd-lsp: 2.7.18 False\n", ""), python("2.7.18", false));
});

test("what a site prints on the way does not hide the answer", () => {
  assert.equal(conclude(null, "welcome\nautograd-lsp: 3.12.0 True\nbye\n", "").kind, "python");
});

test("which versions are too old", () => {
  assert.deepEqual(["2.7.18", "3.9.1", "3.10.0", "3.14.2", "4.0.0"].map(isTooOld), [true, true, false, false, false]);
});

test("a program that is not there, that fails, or that is no Python", () => {
  assert.deepEqual(conclude(failed("ENOENT"), "", ""), { kind: "not-found" });
  assert.deepEqual(conclude(failed("EACCES"), "", ""), { kind: "not-found" });
  assert.deepEqual(conclude(failed(1), "", "no encodings\n"), { kind: "broken", details: "no encodings" });
  assert.equal(conclude(null, "hello\n", "").kind, "broken");
});

test("a real program that is not there", async () => {
  assert.deepEqual(await diagnose("no-such-python-anywhere", process.env, "/"), { kind: "not-found" });
});

test("every diagnosis names the interpreter and offers a way on", () => {
  for (const diagnosis of [
    { kind: "python", version: "3.12.1", installed: false },
    { kind: "python", version: "3.9.1", installed: true },
    { kind: "not-found" },
    { kind: "broken", details: "" },
  ] as const) {
    const { text, actions } = explain("/opt/python", diagnosis, []);
    assert.match(text, /\/opt\/python/);
    assert.ok(actions.includes("interpreter") && actions.includes("settings"), diagnosis.kind);
  }
});

test("a Python that is newer than the server in the extension is told for which it is", () => {
  const { text, actions } = explain("python3", { kind: "python", version: "3.15.0", installed: false }, [
    "3.13",
    "3.14",
  ]);
  assert.match(text, /3\.13, 3\.14, not 3\.15\.0/);
  assert.ok(actions.includes("install"));
});
