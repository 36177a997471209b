import assert from "node:assert/strict";
import { test } from "node:test";
import { page } from "../src/page";

test("the page runs nothing without the nonce and reaches nothing", () => {
  const html = page("abc", "s.js", "s.css");
  const policy = /Content-Security-Policy" content="([^"]*)"/.exec(html)?.[1];
  assert.equal(policy, "default-src 'none'; script-src 'nonce-abc' 'wasm-unsafe-eval'; style-src 'nonce-abc'");
  assert.doesNotMatch(html, /<script(?! nonce="abc")|<style|\sstyle=|\son\w+=|https?:/);
});
