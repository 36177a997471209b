import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { findBundle } from "../src/bundle";

test("a bundle says for which Pythons it is", (context) => {
  const extension = mkdtempSync(join(tmpdir(), "bundle-"));
  context.after(() => {
    rmSync(extension, { recursive: true });
  });
  const bundled = join(extension, "bundled");
  mkdirSync(bundled);
  writeFileSync(join(bundled, "start.py"), "");
  assert.equal(findBundle(extension), undefined);
  for (const name of ["any", "cp310", "cp39"]) {
    mkdirSync(join(bundled, "libs", name), { recursive: true });
  }
  assert.deepEqual(findBundle(extension), { start: join(bundled, "start.py"), pythons: ["3.10", "3.9"] });
});
