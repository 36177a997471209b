// One connection to a server, and which documents go over it.

import * as vscode from "vscode";
import {
  CloseAction,
  DynamicFeature,
  Executable,
  ExecuteCommandRequest,
  LanguageClient,
  LanguageClientOptions,
  StaticFeature,
} from "vscode-languageclient/node";
import { ReachFeature } from "./reach";

export const NAME = "autograd-lsp";

/** While it starts or is being stopped, a failure goes to the log only: the user is told once, with what to do. */
export class Client extends LanguageClient {
  runs = false;

  get version(): string {
    return this.initializeResult?.serverInfo?.version ?? "";
  }

  override error(message: string, data?: unknown, showNotification: boolean | "force" = true): void {
    super.error(message, data, this.runs && showNotification);
  }

  /** The server's own commands are for clients without an extension, and a name is taken once for all servers. */
  override registerFeature(feature: StaticFeature | DynamicFeature<unknown>): void {
    if (!("registrationType" in feature && feature.registrationType.method === ExecuteCommandRequest.method)) {
      super.registerFeature(feature);
    }
  }
}

/** `folder` is the only one that the server is to look at, where there are several; the `first` takes new files too. */
export function createClient(
  server: Executable,
  output: vscode.LogOutputChannel,
  folder: vscode.WorkspaceFolder | undefined,
  first: boolean,
): Client {
  const client: Client = new Client(NAME, NAME, server, {
    documentSelector: selector(folder, first),
    workspaceFolder: folder,
    outputChannel: output,
    initializationFailedHandler: () => false,
    errorHandler: {
      error: (error, message, count) => usual.error(error, message, count),
      closed: () => (client.runs ? usual.closed() : { action: CloseAction.DoNotRestart, handled: true }),
    },
    // A cell goes to the server as part of its notebook, never as a program of its own.
    middleware: {
      didOpen: async (document, next) => (isCell(document) ? undefined : next(document)),
      didChange: async (event, next) => (isCell(event.document) ? undefined : next(event)),
      didClose: async (document, next) => (isCell(document) ? undefined : next(document)),
      workspace: folder && {
        workspaceFolders: () => [{ uri: folder.uri.toString(), name: folder.name }],
        didChangeWorkspaceFolders: () => Promise.resolve(),
      },
    },
  });
  const usual = client.createDefaultErrorHandler();
  client.registerFeature(new ReachFeature());
  return client;
}

function selector(
  folder: vscode.WorkspaceFolder | undefined,
  first: boolean,
): LanguageClientOptions["documentSelector"] {
  const pattern = folder && { baseUri: folder.uri.toString(), pattern: "**/*" };
  const untitled = { language: "python", scheme: "untitled" };
  return [
    { language: "python", scheme: "file", pattern },
    ...(first ? [untitled] : []),
    { language: "python", notebook: { notebookType: "jupyter-notebook", pattern } },
  ];
}

function isCell(document: vscode.TextDocument): boolean {
  return document.uri.scheme === "vscode-notebook-cell";
}
