// Starts `gpuvcc lsp` and shows what it says. Nothing to install and nothing to build: the part of the Language Server Protocol
// that gpuvcc speaks is small.
"use strict";

const vscode = require("vscode");
const { spawn } = require("child_process");

const LANGUAGES = ["ptx", "ivl", "boogie", "cuda-cpp", "cuda"];

/** Messages to and from a server: a header with the length in bytes, an empty line, JSON. */
class Connection {
  constructor(command, args, handlers) {
    this.handlers = handlers;
    this.waiting = new Map();
    this.lastId = 0;
    this.bytes = Buffer.alloc(0);
    this.process = spawn(command, args);
    this.process.on("error", (error) => this.end(`${command}: ${error.message}`));
    this.process.on("exit", (code) => this.end(`${command} lsp ended with ${code}`));
    this.process.stderr.on("data", (text) => handlers.log(String(text)));
    this.process.stdin.on("error", () => {});
    this.process.stdout.on("data", (bytes) => {
      this.bytes = Buffer.concat([this.bytes, bytes]);
      this.readAll();
    });
  }

  readAll() {
    for (;;) {
      const end = this.bytes.indexOf("\r\n\r\n");
      if (end < 0) return;
      const length = Number(/content-length: *(\d+)/i.exec(this.bytes.toString("latin1", 0, end))?.[1]);
      if (this.bytes.length < end + 4 + length) return;
      const message = JSON.parse(this.bytes.toString("utf8", end + 4, end + 4 + length));
      this.bytes = this.bytes.subarray(end + 4 + length);
      this.take(message);
    }
  }

  take(message) {
    if (message.method === undefined) {
      const settle = this.waiting.get(message.id);
      this.waiting.delete(message.id);
      settle?.(message.result ?? null);
      return;
    }
    this.handlers[message.method]?.(message.params);
    if (message.id !== undefined) this.send({ id: message.id, result: null });
  }

  send(message) {
    const text = Buffer.from(JSON.stringify({ jsonrpc: "2.0", ...message }), "utf8");
    if (!this.ended) this.process.stdin.write(Buffer.concat([Buffer.from(`Content-Length: ${text.length}\r\n\r\n`), text]));
  }

  tell(method, params) {
    this.send({ method, params });
  }

  /** The result; null if there is none. */
  ask(method, params) {
    if (this.ended) return Promise.resolve(null);
    const id = ++this.lastId;
    return new Promise((settle) => {
      this.waiting.set(id, settle);
      this.send({ id, method, params });
    });
  }

  end(message) {
    if (this.ended) return;
    this.ended = true;
    this.waiting.forEach((settle) => settle(null));
    this.waiting.clear();
    this.handlers.ended(message);
  }

  async stop() {
    this.handlers.ended = () => {};
    await this.ask("shutdown", null);
    this.tell("exit", null);
  }
}

let connection;
let diagnostics;
let lensesChanged;
let output;

const position = (place) => new vscode.Position(place.line, place.character);
const range = (place) => new vscode.Range(position(place.start), position(place.end));
const name = (document) => ({ uri: document.uri.toString() });
const isOurs = (document) => LANGUAGES.includes(document.languageId) && ["file", "untitled"].includes(document.uri.scheme);

function diagnostic(found) {
  // The protocol counts severities from 1, the editor from 0.
  const shown = new vscode.Diagnostic(range(found.range), found.message, (found.severity ?? 1) - 1);
  shown.code = found.code;
  shown.source = found.source;
  shown.relatedInformation = (found.relatedInformation ?? []).map(({ location, message }) => {
    const place = new vscode.Location(vscode.Uri.parse(location.uri), range(location.range));
    return new vscode.DiagnosticRelatedInformation(place, message);
  });
  return shown;
}

function open(document) {
  if (!isOurs(document)) return;
  const text = document.getText();
  const { languageId, version } = document;
  connection.tell("textDocument/didOpen", { textDocument: { ...name(document), languageId, version, text } });
}

async function start() {
  const settings = vscode.workspace.getConfiguration("gpuvcc");
  const handlers = {
    log: (text) => output.append(text),
    ended: (message) => {
      diagnostics.clear();
      output.appendLine(message);
      vscode.window.showErrorMessage(`gpuvcc: ${message}. The program is found by the setting gpuvcc.path.`);
    },
    "textDocument/publishDiagnostics": ({ uri, diagnostics: found }) =>
      diagnostics.set(vscode.Uri.parse(uri), found.map(diagnostic)),
    "workspace/codeLens/refresh": () => lensesChanged.fire(),
  };
  const started = new Connection(settings.get("path"), ["lsp", "--timeout", String(settings.get("timeout"))], handlers);
  connection = started;
  const capabilities = { workspace: { codeLens: { refreshSupport: true } } };
  await started.ask("initialize", { processId: process.pid, rootUri: null, capabilities });
  started.tell("initialized", {});
  if (connection === started) vscode.workspace.textDocuments.forEach(open);
}

async function restart() {
  await connection.stop();
  diagnostics.clear();
  await start();
}

async function hover(document, place) {
  const params = { textDocument: name(document), position: { line: place.line, character: place.character } };
  const found = await connection.ask("textDocument/hover", params);
  return found && new vscode.Hover(new vscode.MarkdownString(found.contents.value), found.range && range(found.range));
}

async function lenses(document) {
  const found = await connection.ask("textDocument/codeLens", { textDocument: name(document) });
  return (found ?? []).map((lens) => new vscode.CodeLens(range(lens.range), lens.command));
}

async function activate(context) {
  diagnostics = vscode.languages.createDiagnosticCollection("gpuvcc");
  lensesChanged = new vscode.EventEmitter();
  output = vscode.window.createOutputChannel("gpuvcc");
  const { workspace, languages } = vscode;
  context.subscriptions.push(
    diagnostics,
    lensesChanged,
    output,
    workspace.onDidOpenTextDocument(open),
    workspace.onDidChangeTextDocument(({ document, contentChanges }) => {
      if (!isOurs(document) || contentChanges.length === 0) return;
      const textDocument = { ...name(document), version: document.version };
      connection.tell("textDocument/didChange", { textDocument, contentChanges: [{ text: document.getText() }] });
    }),
    workspace.onDidSaveTextDocument((document) => {
      if (isOurs(document)) connection.tell("textDocument/didSave", { textDocument: name(document) });
    }),
    workspace.onDidCloseTextDocument((document) => {
      if (isOurs(document)) connection.tell("textDocument/didClose", { textDocument: name(document) });
    }),
    languages.registerHoverProvider(LANGUAGES, { provideHover: hover }),
    languages.registerCodeLensProvider(LANGUAGES, { provideCodeLenses: lenses, onDidChangeCodeLenses: lensesChanged.event }),
    vscode.commands.registerCommand("gpuvcc.restart", restart),
  );
  await start();
}

async function deactivate() {
  await connection?.stop();
}

module.exports = { activate, deactivate };
