// The servers of a window: one for each folder of its workspace, or one for all that is open.

import * as vscode from "vscode";
import { folderOf, outermost } from "./folders";
import { Server, Surroundings } from "./server";

export class Servers implements vscode.Disposable {
  private all: Server[] = [];
  private readonly changed = new vscode.EventEmitter<Server>();
  /** One of them has started, stopped or failed. */
  readonly onDidChange = this.changed.event;
  private readonly listener: vscode.Disposable;

  constructor(private readonly around: Surroundings) {
    this.listener = vscode.workspace.onDidChangeWorkspaceFolders(() => void this.arrange());
  }

  dispose(): void {
    this.listener.dispose();
    this.changed.dispose();
  }

  /** The one that is asked about a document; without one, the first. */
  of(uri: vscode.Uri | undefined): Server | undefined {
    const folders = this.all.map((server) => ({ server, path: server.folder?.uri.path ?? "" }));
    return folderOf(uri?.path ?? "", folders)?.server;
  }

  async restart(): Promise<void> {
    if (this.all.length === 0) {
      await this.arrange();
    } else {
      await Promise.all(this.all.map((server) => server.restart()));
    }
  }

  async stop(): Promise<void> {
    await Promise.all(this.all.map((server) => server.stop()));
  }

  /** Folders came or went. Servers of folders that are still there go on, unless they become the only or the first. */
  private async arrange(): Promise<void> {
    const folders = outermost(
      (vscode.workspace.workspaceFolders ?? []).map((folder) => ({ folder, path: folder.uri.path })),
    );
    const wanted = folders.length > 1 ? folders.map(({ folder }) => folder) : [undefined];
    const before = this.all;
    this.all = wanted.map((folder, at) => {
      const known = before.find((server, was) => sameFolder(server.folder, folder) && (was === 0) === (at === 0));
      return known ?? this.add(folder, at === 0);
    });
    const gone = before.filter((server) => !this.all.includes(server));
    const come = this.all.filter((server) => !before.includes(server));
    await Promise.all(gone.map((server) => server.stop()));
    await Promise.all(come.map((server) => server.restart()));
  }

  private add(folder: vscode.WorkspaceFolder | undefined, first: boolean): Server {
    const server = new Server(this.around, folder, first);
    server.onDidChange(() => {
      if (this.all.includes(server)) {
        this.changed.fire(server);
      }
    });
    return server;
  }
}

function sameFolder(one: vscode.WorkspaceFolder | undefined, other: vscode.WorkspaceFolder | undefined): boolean {
  return one?.uri.toString() === other?.uri.toString();
}
