// Bundles the extension and its view into dist/, with the licences of what is in the bundles, and draws the icon; with --test,
// the tests.

import { initWasm, Resvg } from "@resvg/resvg-wasm";
import { build } from "esbuild";
import { createRequire } from "node:module";
import { readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";

const extension = {
  bundle: true,
  platform: "node",
  format: "cjs",
  target: "node20",
  external: ["vscode"],
};
const view = {
  entryPoints: ["view/view.ts", "view/view.css"],
  bundle: true,
  platform: "browser",
  format: "iife",
  target: "es2022",
};

if (process.argv.includes("--test")) {
  const tests = readdirSync("test").filter((name) => name.endsWith(".test.ts"));
  rmSync("dist/test", { recursive: true, force: true });
  await build({ ...extension, entryPoints: tests.map((name) => join("test", name)), outdir: "dist/test" });
} else {
  const built = await Promise.all([
    build({ ...extension, entryPoints: ["src/extension.ts"], outdir: "dist", minify: true, metafile: true }),
    build({ ...view, outdir: "dist", minify: true, metafile: true }),
  ]);
  await initWasm(readFileSync(createRequire(import.meta.url).resolve("@resvg/resvg-wasm/index_bg.wasm")));
  const icon = new Resvg(readFileSync("media/icon.svg", "utf8"), { fitTo: { mode: "width", value: 256 } });
  writeFileSync("dist/icon.png", icon.render().asPng());
  const inside = built.flatMap((result) => Object.keys(result.metafile.inputs)).map(packageOf);
  writeFileSync(
    "dist/licenses.txt",
    [".."]
      .concat([...new Set(inside)].filter(Boolean).sort())
      .map(licence)
      .join("\n"),
  );
}

function packageOf(file) {
  return /^(?:.*\/)?node_modules\/(?:@[^/]+\/)?[^/]+/.exec(file)?.[0];
}

function licence(folder) {
  const name = folder === ".." ? "autograd-lsp" : folder.replace(/^.*node_modules\//, "");
  const file = readdirSync(folder).find((entry) => /^licen[cs]e/i.test(entry));
  const text =
    file !== undefined
      ? readFileSync(join(folder, file), "utf8")
      : `Licence: ${JSON.parse(readFileSync(join(folder, "package.json"), "utf8")).license}\n`;
  return `${"=".repeat(80)}\n${name}\n${"=".repeat(80)}\n${text}`;
}
