import assert from "node:assert/strict";
import { test } from "node:test";
import { folderOf, outermost } from "../src/folders";

const folders = (...paths: string[]) => paths.map((path) => ({ path }));

test("a folder within another has no server of its own", () => {
  assert.deepEqual(outermost(folders("/a/b", "/a", "/ab", "/c", "/a")), folders("/a", "/ab", "/c"));
});

test("a document belongs to the folder around it, or to the first", () => {
  const [a, ab] = folders("/a", "/ab");
  assert.equal(folderOf("/ab/x.py", [a, ab]), ab);
  assert.equal(folderOf("/a/b/x.py", [a, ab]), a);
  assert.equal(folderOf("/elsewhere/x.py", [a, ab]), a);
  assert.equal(folderOf("/elsewhere/x.py", folders()), undefined);
});
