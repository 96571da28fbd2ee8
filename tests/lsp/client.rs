//! A client that an editor could be: it starts the server and talks to it.

use serde_json::{Value, json};
use std::collections::VecDeque;
use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{self, Receiver};
use std::time::Duration;
use tempfile::TempDir;

/// More than any answer takes, on a machine that does much else.
pub const PATIENCE: Duration = Duration::from_secs(120);

pub struct Client {
    child: Child,
    stdin: Option<ChildStdin>,
    received: Receiver<Value>,
    /// Notifications that nobody waited for yet.
    early: VecDeque<Value>,
    last_id: i32,
    folder: TempDir,
}

impl Client {
    /// A server that has been initialised; `path` is its PATH.
    pub fn new(path: Option<&str>) -> Client {
        let mut client = Client::uninitialised(path);
        let capabilities = json!({ "workspace": { "codeLens": { "refreshSupport": true } } });
        let result =
            client.ask("initialize", json!({ "processId": null, "rootUri": null, "capabilities": capabilities }));
        assert_eq!(result["capabilities"]["textDocumentSync"]["change"], 1, "{result}");
        client.tell("initialized", json!({}));
        client
    }

    pub fn uninitialised(path: Option<&str>) -> Client {
        let folder = TempDir::new().expect("a folder");
        let mut command = Command::new(env!("CARGO_BIN_EXE_gpuvcc"));
        command.args(["lsp", "--timeout", "60"]).stdin(Stdio::piped()).stdout(Stdio::piped());
        path.into_iter().for_each(|path| _ = command.env("PATH", path));
        let mut child = command.spawn().expect("the server starts");
        let (sender, received) = mpsc::channel();
        let mut stdout = BufReader::new(child.stdout.take().expect("stdout is piped"));
        std::thread::spawn(move || {
            while let Some(message) = read(&mut stdout) {
                if sender.send(message).is_err() {
                    return;
                }
            }
        });
        Client { stdin: child.stdin.take(), child, received, early: VecDeque::new(), last_id: 0, folder }
    }

    /// Where files may be written.
    pub fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// Writes a file into the folder of the client.
    pub fn write(&self, name: &str, text: &[u8]) -> PathBuf {
        let path = self.folder().join(name);
        fs::write(&path, text).expect("a file in an own folder");
        path
    }

    /// Bytes as they are.
    pub fn say(&mut self, bytes: &[u8]) {
        let stdin = self.stdin.as_mut().expect("the client still speaks");
        stdin.write_all(bytes).and_then(|()| stdin.flush()).expect("the server listens");
    }

    fn send(&mut self, message: &Value) {
        let text = message.to_string();
        self.say(format!("Content-Length: {}\r\n\r\n{text}", text.len()).as_bytes());
    }

    /// A notification.
    pub fn tell(&mut self, method: &str, params: Value) {
        self.send(&json!({ "jsonrpc": "2.0", "method": method, "params": params }));
    }

    /// The result of a request; the error, as an object with `code`, where there is one.
    pub fn ask(&mut self, method: &str, params: Value) -> Value {
        self.last_id += 1;
        let id = self.last_id;
        self.send(&json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }));
        loop {
            let message = self.next();
            if message["method"].is_null() && message["id"] == id {
                return if message["error"].is_null() { message["result"].clone() } else { message["error"].clone() };
            }
            self.early.push_back(message);
        }
    }

    fn next(&mut self) -> Value {
        self.received.recv_timeout(PATIENCE).expect("a message")
    }

    /// The next message with this method that `wanted` takes; those before it are passed over.
    fn wait(&mut self, method: &str, wanted: impl Fn(&Value) -> bool) -> Value {
        loop {
            let message = self.early.pop_front().unwrap_or_else(|| self.next());
            if message["method"] == method && wanted(&message["params"]) {
                return message["params"].clone();
            }
        }
    }

    /// The next diagnostics of a document that `wanted` takes.
    pub fn diagnostics(&mut self, uri: &str, wanted: impl Fn(&[Value]) -> bool) -> Vec<Value> {
        let all = |params: &Value| params["diagnostics"].as_array().cloned().unwrap_or_default();
        let params =
            self.wait("textDocument/publishDiagnostics", |params| params["uri"] == uri && wanted(&all(params)));
        all(&params)
    }

    /// All diagnostics that came and were not waited for.
    pub fn rest(&mut self) -> Vec<Value> {
        let rest: Vec<Value> = self.early.drain(..).chain(self.received.try_iter()).collect();
        rest.into_iter().filter(|message| message["method"] == "textDocument/publishDiagnostics").collect()
    }

    /// Waits until the lenses are to be asked for again.
    pub fn refreshed(&mut self) {
        self.wait("workspace/codeLens/refresh", |_| true);
    }

    pub fn open(&mut self, uri: &str, language: &str, text: &str) {
        let document = json!({ "uri": uri, "languageId": language, "version": 1, "text": text });
        self.tell("textDocument/didOpen", json!({ "textDocument": document }));
    }

    pub fn change(&mut self, uri: &str, version: i32, text: &str) {
        let changes = json!([{ "text": text }]);
        let params = json!({ "textDocument": { "uri": uri, "version": version }, "contentChanges": changes });
        self.tell("textDocument/didChange", params);
    }

    pub fn save(&mut self, uri: &str) {
        self.tell("textDocument/didSave", json!({ "textDocument": { "uri": uri } }));
    }

    pub fn hover(&mut self, uri: &str, line: usize, character: usize) -> String {
        let place = json!({ "line": line, "character": character });
        let hover = self.ask("textDocument/hover", json!({ "textDocument": { "uri": uri }, "position": place }));
        hover["contents"]["value"].as_str().unwrap_or_default().to_string()
    }

    /// Each lens with its line, from 0.
    pub fn lenses(&mut self, uri: &str) -> Vec<(u64, String)> {
        let lenses = self.ask("textDocument/codeLens", json!({ "textDocument": { "uri": uri } }));
        let lenses = lenses.as_array().cloned().unwrap_or_default();
        let line = |lens: &Value| lens["range"]["start"]["line"].as_u64().expect("a line");
        let title = |lens: &Value| lens["command"]["title"].as_str().expect("a title").to_string();
        lenses.iter().map(|lens| (line(lens), title(lens))).collect()
    }

    /// Ends the conversation as it should be, and answers the exit code.
    pub fn shut_down(mut self) -> i32 {
        assert!(self.ask("shutdown", Value::Null).is_null());
        assert_eq!(self.ask("textDocument/hover", json!({}))["code"], -32600);
        self.tell("exit", Value::Null);
        self.ended()
    }

    /// Says nothing more.
    pub fn hang_up(mut self) -> i32 {
        self.stdin = None;
        self.ended()
    }

    pub fn ended(&mut self) -> i32 {
        self.child.wait().expect("the server ends").code().expect("nothing killed it")
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        // A test that fails leaves no server.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn read(input: &mut impl BufRead) -> Option<Value> {
    let mut length = 0;
    loop {
        let mut line = String::new();
        if input.read_line(&mut line).ok()? == 0 {
            return None;
        }
        match line.trim().strip_prefix("Content-Length: ") {
            Some(number) => length = number.parse().ok()?,
            None if line.trim().is_empty() => break,
            None => {}
        }
    }
    let mut bytes = vec![0; length];
    input.read_exact(&mut bytes).ok()?;
    serde_json::from_slice(&bytes).ok()
}

/// The URI of a file with a plain name.
pub fn uri(path: &Path) -> String {
    format!("file://{}", path.display())
}

/// The line, from 0, that holds a text first.
pub fn line_of(text: &str, part: &str) -> usize {
    text.lines().position(|line| line.contains(part)).unwrap_or_else(|| panic!("no line with {part}"))
}

/// The columns of a range, in units of UTF-16.
pub fn columns(range: &Value) -> (u64, u64) {
    let column = |end: &str| range[end]["character"].as_u64().expect("a column");
    (column("start"), column("end"))
}

pub fn units(text: &str) -> u64 {
    text.encode_utf16().count() as u64
}
