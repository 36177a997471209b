// What a report of a fault needs, as Markdown for the clipboard: versions, the server and its settings.

import * as vscode from "vscode";
import { NAME } from "./client";
import { Server } from "./server";

/** The part of `package.json` that is looked at. */
export interface Manifest {
  version: string;
  contributes: { configuration: { properties: Record<string, unknown> } };
}

export async function copyDebugInformation(manifest: Manifest, server: Server | undefined): Promise<void> {
  await vscode.env.clipboard.writeText(await debugInformation(manifest, server));
  void vscode.window.showInformationMessage("The debug information of autograd-lsp is in the clipboard.");
}

async function debugInformation(manifest: Manifest, server: Server | undefined): Promise<string> {
  const { client, command, status } = server ?? {};
  const known = client?.isRunning() ? await client.sendRequest("autograd/status").catch(String) : undefined;
  const parts: Record<string, unknown> = {
    extension: manifest.version,
    vscode: vscode.version,
    platform: `${process.platform} ${process.arch}`,
    trusted: vscode.workspace.isTrusted,
    status,
    command,
    server: known,
    settings: changedSettings(Object.keys(manifest.contributes.configuration.properties), server?.folder?.uri),
  };
  return `\`\`\`json\n${JSON.stringify(parts, null, 2)}\n\`\`\`\n`;
}

/** Those that somebody has set, and for what. */
function changedSettings(names: string[], folder: vscode.Uri | undefined): Record<string, unknown> {
  const settings = vscode.workspace.getConfiguration(NAME, folder);
  const found = names.map((name) => {
    const value = settings.inspect(name.slice(NAME.length + 1));
    const set = { user: value?.globalValue, workspace: value?.workspaceValue, folder: value?.workspaceFolderValue };
    return [name, set] as const;
  });
  return Object.fromEntries(found.filter(([, set]) => Object.values(set).some((value) => value !== undefined)));
}
