// The language status item: whether the server of the file in the editor runs, which version, and by what.

import * as vscode from "vscode";
import { NAME } from "./client";
import { Command } from "./command";
import { Status } from "./server";
import { Servers } from "./servers";

const ORIGINS: Record<Command["source"], string> = {
  bundled: "the extension's, on",
  environment: "installed for",
  path: "as set:",
};

export function showStatus(servers: Servers): vscode.Disposable {
  const item = vscode.languages.createLanguageStatusItem(`${NAME}.status`, { language: "python" });
  item.name = NAME;
  item.command = { command: `${NAME}.showOutput`, title: "Show Output" };
  const show = () => {
    const server = servers.of(vscode.window.activeTextEditor?.document.uri);
    const status: Status = server?.status ?? { kind: "stopped", program: "" };
    item.text = words(status);
    item.detail = server?.command ? `${ORIGINS[server.command.source]} ${status.program}` : status.program;
    item.busy = status.kind === "starting";
    item.severity =
      status.kind === "failed" ? vscode.LanguageStatusSeverity.Error : vscode.LanguageStatusSeverity.Information;
    void vscode.commands.executeCommand("setContext", `${NAME}.running`, status.kind === "running");
  };
  show();
  return vscode.Disposable.from(item, servers.onDidChange(show), vscode.window.onDidChangeActiveTextEditor(show));
}

function words(status: Status): string {
  switch (status.kind) {
    case "running":
      return `${NAME} ${status.version}`;
    case "failed":
      return `${NAME}: not running`;
    default:
      return `${NAME}: ${status.kind}`;
  }
}
