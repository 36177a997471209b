import assert from "node:assert/strict";
import { test } from "node:test";
import { conclude, diagnose, explain, installCommand } from "../src/diagnosis";

const failed = (code: string | number) => Object.assign(new Error("failed"), { code });

test("what an interpreter answers", () => {
  assert.deepEqual(conclude(null, "autograd-lsp: 3.11.7 True\n", ""), { kind: "ready" });
  assert.deepEqual(conclude(null, "autograd-lsp: 3.11.7 False\r\n", ""), { kind: "not-installed" });
  assert.deepEqual(conclude(null, "autograd-lsp: 3.9.1 True\n", ""), { kind: "too-old", version: "3.9.1" });
  assert.deepEqual(conclude(null, "autograd-lsp: 2.7.18 False\n", ""), { kind: "too-old", version: "2.7.18" });
  assert.deepEqual(conclude(null, "autograd-lsp: 4.0.0 True\n", ""), { kind: "ready" });
});

test("what a site prints on the way does not hide the answer", () => {
  assert.deepEqual(conclude(null, "welcome\nautograd-lsp: 3.12.0 True\nbye\n", ""), { kind: "ready" });
});

test("a program that is not there, that fails, or that is no Python", () => {
  assert.deepEqual(conclude(failed("ENOENT"), "", ""), { kind: "not-found" });
  assert.deepEqual(conclude(failed("EACCES"), "", ""), { kind: "not-found" });
  assert.deepEqual(conclude(failed(1), "", "no encodings\n"), { kind: "broken", details: "no encodings" });
  assert.equal(conclude(null, "hello\n", "").kind, "broken");
});

test("a real program that is not there", async () => {
  assert.deepEqual(await diagnose("no-such-python-anywhere", process.env, undefined), { kind: "not-found" });
});

test("every diagnosis names the interpreter and offers a way on", () => {
  for (const diagnosis of [
    { kind: "not-installed" },
    { kind: "too-old", version: "3.9.1" },
    { kind: "not-found" },
    { kind: "broken", details: "" },
  ] as const) {
    const { text, actions } = explain("/opt/python", diagnosis);
    assert.match(text, /\/opt\/python/);
    assert.ok(actions.includes("interpreter") && actions.includes("settings"), diagnosis.kind);
  }
  assert.ok(explain("python3", { kind: "not-installed" }).actions.includes("install"));
});

test("the install command can be pasted", () => {
  assert.equal(installCommand("/opt/python"), "/opt/python -m pip install autograd-lsp");
  assert.equal(installCommand("/my env/python"), '"/my env/python" -m pip install autograd-lsp');
});
