// The server that comes with the extension: its starter, and the Pythons that it was built for.

import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";

export interface Bundle {
  start: string;
  /** Such as "3.12". */
  pythons: string[];
}

/** An extension that was built without a server has none. */
export function findBundle(extension: string): Bundle | undefined {
  const start = join(extension, "bundled", "start.py");
  const libs = join(extension, "bundled", "libs");
  if (!existsSync(start) || !existsSync(libs)) {
    return undefined;
  }
  const tags = readdirSync(libs).map((name) => /^cp(\d)(\d+)$/.exec(name));
  return { start, pythons: tags.filter((tag) => tag !== null).map((tag) => `${tag[1]}.${tag[2]}`) };
}
