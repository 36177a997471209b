// The language status item: whether the server runs, which version, and by which interpreter.

import * as vscode from "vscode";
import { NAME, Server, Status } from "./server";

export function showStatus(server: Server): vscode.Disposable {
  const item = vscode.languages.createLanguageStatusItem(`${NAME}.status`, { language: "python" });
  item.name = NAME;
  item.command = { command: `${NAME}.showOutput`, title: "Show Output" };
  const show = (status: Status) => {
    item.text = words(status);
    item.detail = status.program;
    item.busy = status.kind === "starting";
    item.severity =
      status.kind === "failed" ? vscode.LanguageStatusSeverity.Error : vscode.LanguageStatusSeverity.Information;
    void vscode.commands.executeCommand("setContext", `${NAME}.running`, status.kind === "running");
  };
  show(server.status);
  return vscode.Disposable.from(item, server.onDidChange(show));
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
