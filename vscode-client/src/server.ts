// A server's process: started, stopped and started again, one at a time.

import * as vscode from "vscode";
import { State } from "vscode-languageclient/node";
import { Bundle } from "./bundle";
import { Client, createClient, NAME } from "./client";
import { chooseCommand, Command, PythonApi, selectedPython, Strategy, Unfit } from "./command";
import { Action, diagnose, explain } from "./diagnosis";

export const PYTHON_EXTENSION = "ms-python.python";

export type Status =
  | { kind: "starting" | "stopped"; program: string }
  | { kind: "running"; program: string; version: string }
  | { kind: "failed"; program: string; text: string };

export interface Problem {
  text: string;
  actions: Action[];
}

/** What all servers share. */
export interface Surroundings {
  /** The extension's folder. Programs are started there: a workspace may have files of their names. */
  home: string;
  bundle: Bundle | undefined;
  output: vscode.LogOutputChannel;
  /** Is told of a start that failed. */
  tell: (problem: Problem) => void;
}

export class Server {
  status: Status = { kind: "stopped", program: "" };
  client: Client | undefined;
  /** How the running server was started. */
  command: Command | undefined;

  private readonly changed = new vscode.EventEmitter<Status>();
  readonly onDidChange = this.changed.event;
  // Starting and stopping take their turns: a setting that changes twice must not leave two servers behind.
  private turn: Promise<void> = Promise.resolve();

  /** `folder` is the only one that it looks at, `first` says that it also takes what lies in none. */
  constructor(
    private readonly around: Surroundings,
    readonly folder: vscode.WorkspaceFolder | undefined,
    private readonly first: boolean,
  ) {}

  restart(): Promise<void> {
    return (this.turn = this.turn.then(() => this.halt()).then(() => this.start()));
  }

  stop(): Promise<void> {
    return (this.turn = this.turn.then(() => this.halt()));
  }

  private async start(): Promise<void> {
    const { home, bundle, output } = this.around;
    // The workspace's own modules must not be imported in the place of the server's.
    const env = { ...process.env, PYTHONSAFEPATH: "1" };
    const command = await this.choose(env);
    if ("diagnosis" in command) {
      const { python, diagnosis } = command;
      output.error(`${python}: ${"details" in diagnosis ? diagnosis.details : JSON.stringify(diagnosis)}`);
      this.fail(python, explain(python, diagnosis, bundle?.pythons ?? []));
      return;
    }
    const { program, args } = command;
    this.become({ kind: "starting", program });
    output.info(`starting: ${[program, ...args].join(" ")}`);
    const client = createClient(
      { command: program, args, options: { env, cwd: home } },
      output,
      this.folder,
      this.first,
    );
    try {
      await client.start();
    } catch (error) {
      output.error(`${program}: ${error instanceof Error ? error.message : String(error)}`);
      await client.dispose().catch(() => undefined);
      const text = `autograd-lsp could not be started with ${program}.`;
      this.fail(program, { text, actions: ["output", "interpreter", "settings"] });
      return;
    }
    client.runs = true;
    this.client = client;
    this.command = command;
    const running = (): Status => ({ kind: "running", program, version: client.version });
    this.become(running());
    client.onDidChangeState(({ newState }) => {
      if (this.client === client) {
        const kind = newState === State.Starting ? "starting" : "stopped";
        this.become(newState === State.Running ? running() : { kind, program });
      }
    });
  }

  private choose(env: NodeJS.ProcessEnv): Promise<Command | Unfit> {
    const { home, bundle } = this.around;
    const folder = this.folder?.uri ?? vscode.workspace.workspaceFolders?.[0]?.uri;
    const settings = vscode.workspace.getConfiguration(NAME, folder);
    const extension = vscode.extensions.getExtension<PythonApi>(PYTHON_EXTENSION);
    // In a folder that nobody trusts yet, the selected interpreter may be one that came with it.
    const isTrusted = vscode.workspace.isTrusted;
    return chooseCommand(
      {
        path: settings.get("path", ""),
        interpreter: settings.get("interpreter", ""),
        strategy: settings.get<Strategy>("importStrategy", "useBundled"),
      },
      folder?.fsPath,
      bundle,
      async () => (extension && isTrusted ? selectedPython(() => extension.activate(), folder) : undefined),
      (python) => {
        this.become({ kind: "starting", program: python });
        return diagnose(python, env, home);
      },
    );
  }

  private async halt(): Promise<void> {
    const client = this.client;
    this.client = undefined;
    this.command = undefined;
    if (client !== undefined) {
      client.runs = false;
      await client.dispose().catch(() => undefined);
    }
    this.become({ kind: "stopped", program: this.status.program });
  }

  private fail(program: string, problem: Problem): void {
    this.become({ kind: "failed", program, text: problem.text });
    this.around.tell(problem);
  }

  private become(status: Status): void {
    this.status = status;
    this.changed.fire(status);
  }
}
