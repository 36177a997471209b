// The server's process: started, stopped and started again, one at a time.

import * as vscode from "vscode";
import { CloseAction, Executable, LanguageClient, State } from "vscode-languageclient/node";
import { chooseCommand, Command, PythonApi, selectedPython } from "./command";
import { diagnose, explain, Action } from "./diagnosis";
import { ReachFeature } from "./reach";

export const NAME = "autograd-lsp";
export const PYTHON_EXTENSION = "ms-python.python";

export type Status =
  | { kind: "starting" | "stopped"; program: string }
  | { kind: "running"; program: string; version: string }
  | { kind: "failed"; program: string; text: string };

export interface Problem {
  text: string;
  actions: Action[];
  python: string | undefined;
}

export class Server {
  status: Status = { kind: "stopped", program: "" };
  client: Client | undefined;

  private readonly changed = new vscode.EventEmitter<Status>();
  readonly onDidChange = this.changed.event;
  // Starting and stopping take their turns: a setting that changes twice must not leave two servers behind.
  private turn: Promise<void> = Promise.resolve();

  /** `tell` is told of a start that failed. */
  constructor(
    private readonly output: vscode.LogOutputChannel,
    private readonly tell: (problem: Problem) => void,
  ) {}

  restart(): Promise<void> {
    return (this.turn = this.turn.then(() => this.halt()).then(() => this.start()));
  }

  stop(): Promise<void> {
    return (this.turn = this.turn.then(() => this.halt()));
  }

  private async start(): Promise<void> {
    const folder = vscode.workspace.workspaceFolders?.[0]?.uri;
    const command = await findCommand(folder);
    const { program, python } = command;
    // The workspace's own modules must not be imported in the place of the server's.
    const env = { ...process.env, PYTHONSAFEPATH: "1" };
    this.become({ kind: "starting", program });
    if (python !== undefined) {
      const diagnosis = await diagnose(python, env, folder?.fsPath);
      if (diagnosis.kind !== "ready") {
        this.output.error(`${python}: ${"details" in diagnosis ? diagnosis.details : diagnosis.kind}`);
        this.fail(program, { ...explain(python, diagnosis), python });
        return;
      }
    }
    this.output.info(`starting: ${[program, ...command.args].join(" ")}`);
    const client = createClient({ command: program, args: command.args, options: { env } }, this.output);
    try {
      await client.start();
    } catch (error) {
      this.output.error(`${program}: ${error instanceof Error ? error.message : String(error)}`);
      await client.dispose().catch(() => undefined);
      const text = `autograd-lsp could not be started with ${program}.`;
      this.fail(program, { text, actions: ["output", "interpreter", "settings"], python });
      return;
    }
    client.runs = true;
    this.client = client;
    const running = (): Status => ({ kind: "running", program, version: client.version });
    this.become(running());
    client.onDidChangeState(({ newState }) => {
      if (this.client === client) {
        const kind = newState === State.Starting ? "starting" : "stopped";
        this.become(newState === State.Running ? running() : { kind, program });
      }
    });
  }

  private async halt(): Promise<void> {
    const client = this.client;
    this.client = undefined;
    if (client !== undefined) {
      client.runs = false;
      await client.dispose().catch(() => undefined);
    }
    this.become({ kind: "stopped", program: this.status.program });
  }

  private fail(program: string, problem: Problem): void {
    this.become({ kind: "failed", program, text: problem.text });
    this.tell(problem);
  }

  private become(status: Status): void {
    this.status = status;
    this.changed.fire(status);
  }
}

/** While it starts or is being stopped, a failure goes to the log only: the user is told once, with what to do. */
class Client extends LanguageClient {
  runs = false;

  get version(): string {
    return this.initializeResult?.serverInfo?.version ?? "";
  }

  override error(message: string, data?: unknown, showNotification: boolean | "force" = true): void {
    super.error(message, data, this.runs && showNotification);
  }
}

function createClient(server: Executable, output: vscode.LogOutputChannel): Client {
  const client: Client = new Client(NAME, NAME, server, {
    documentSelector: [
      { language: "python", scheme: "file" },
      { language: "python", scheme: "untitled" },
      { language: "python", notebook: "jupyter-notebook" },
    ],
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
    },
  });
  const usual = client.createDefaultErrorHandler();
  client.registerFeature(new ReachFeature());
  return client;
}

function isCell(document: vscode.TextDocument): boolean {
  return document.uri.scheme === "vscode-notebook-cell";
}

async function findCommand(folder: vscode.Uri | undefined): Promise<Command> {
  const settings = vscode.workspace.getConfiguration(NAME);
  const extension = vscode.extensions.getExtension<PythonApi>(PYTHON_EXTENSION);
  return chooseCommand(
    { path: settings.get("path", ""), interpreter: settings.get("interpreter", "") },
    folder?.fsPath,
    async () => extension && selectedPython(() => extension.activate(), folder),
  );
}
