// The list behind a lens: what a backward reaches, as places to go to.

import * as vscode from "vscode";
import { LanguageClient, Location, Position, StaticFeature } from "vscode-languageclient/node";

export const SHOW = "autograd-lsp.showReach";

/** Tells the server that there is the command: its lenses then come with places. */
export class ReachFeature implements StaticFeature {
  fillClientCapabilities(capabilities: { experimental?: Record<string, unknown> }): void {
    capabilities.experimental = { ...capabilities.experimental, commands: { commands: [SHOW] } };
  }

  initialize(): void {
    // Nothing is registered with the server.
  }

  getState(): { kind: "static" } {
    return { kind: "static" };
  }

  clear(): void {
    // Nothing is kept.
  }
}

export function showReach(
  client: LanguageClient,
  uri: string,
  position: Position,
  places: Location[],
): Thenable<unknown> {
  const convert = client.protocol2CodeConverter;
  return vscode.commands.executeCommand(
    "editor.action.showReferences",
    convert.asUri(uri),
    convert.asPosition(position),
    places.map((place) => convert.asLocation(place)),
  );
}
