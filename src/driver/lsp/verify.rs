//! Verifications in the background, one after the other.
//!
//! Input: a file that is saved. Output: an event with the JSON report of the program for it. Establishes: of a text that changed
//! no report comes, and its verification ends at once; at most one runs, with all threads. Relies on: the program that runs is
//! the one that verifies. Reference: book/src/json.md.

use super::LspOptions;
use super::transport::Event;
use std::collections::VecDeque;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::Sender;
use std::thread::Builder;

/// What a verification gave.
#[derive(Debug)]
pub(super) struct Finished {
    /// Which one it was.
    number: u64,
    /// What the program printed, or why it did not run.
    pub(super) output: Result<Vec<u8>, String>,
}

/// A file to verify.
struct Order {
    number: u64,
    /// The document.
    uri: String,
    path: PathBuf,
}

/// Runs the program.
pub(super) struct Verifier {
    options: LspOptions,
    events: Sender<Event>,
    waiting: VecDeque<Order>,
    /// Without a process if none could be started.
    running: Option<(Order, Option<Child>)>,
    last_number: u64,
}

impl Verifier {
    pub(super) fn new(options: LspOptions, events: Sender<Event>) -> Self {
        Verifier { options, events, waiting: VecDeque::new(), running: None, last_number: 0 }
    }

    /// Verifies a file when those before it are done; what was asked of this document before is void.
    pub(super) fn request(&mut self, uri: &str, path: &Path) {
        self.withdraw(uri);
        self.last_number += 1;
        let order = Order { number: self.last_number, uri: uri.to_string(), path: path.to_path_buf() };
        self.waiting.push_back(order);
        self.start_next();
    }

    /// Ends what is asked of a document.
    pub(super) fn withdraw(&mut self, uri: &str) {
        self.waiting.retain(|order| order.uri != uri);
        if self.running.as_ref().is_some_and(|(order, _)| order.uri == uri) {
            self.end_running();
            self.start_next();
        }
    }

    /// Ends everything.
    pub(super) fn withdraw_all(&mut self) {
        self.waiting.clear();
        self.end_running();
    }

    fn end_running(&mut self) {
        if let Some((_, Some(mut child))) = self.running.take() {
            // It may have ended by itself.
            let _ = child.kill();
            let _ = child.wait();
        }
    }

    /// The document that a result is about; `None` if nobody wants it any more. The next verification begins.
    pub(super) fn document_of(&mut self, finished: &Finished) -> Option<String> {
        let (order, child) = self.running.take_if(|(order, _)| order.number == finished.number)?;
        if let Some(mut child) = child {
            let _ = child.wait();
        }
        self.start_next();
        Some(order.uri)
    }

    fn start_next(&mut self) {
        if self.running.is_some() {
            return;
        }
        let Some(order) = self.waiting.pop_front() else { return };
        let child = self.start(&order).map_err(|error| {
            let finished = Finished { number: order.number, output: Err(error.to_string()) };
            // Without a server nobody wants it.
            let _ = self.events.send(Event::Finished(finished));
        });
        self.running = Some((order, child.ok()));
    }

    fn start(&self, order: &Order) -> io::Result<Child> {
        let mut command = Command::new(std::env::current_exe()?);
        command.arg(&order.path).args(["--format", "json", "--invariants", "--color", "never", "--timeout"]);
        command.arg(self.options.timeout.as_secs().to_string());
        if let Some(jobs) = self.options.jobs {
            command.args(["--jobs", &jobs.to_string()]);
        }
        if let Some(folder) = order.path.parent() {
            command.current_dir(folder);
        }
        // What it says to people is in the report, too.
        let mut child = command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn()?;
        let (stdout, events, number) = (child.stdout.take(), self.events.clone(), order.number);
        let wait = move || {
            let mut output = Vec::new();
            let read = stdout.map_or(Ok(0), |mut stdout| stdout.read_to_end(&mut output));
            let output = read.map(|_| output).map_err(|error| error.to_string());
            // Without a server nobody wants it.
            let _ = events.send(Event::Finished(Finished { number, output }));
        };
        match Builder::new().name("verification".to_string()).spawn(wait) {
            Ok(_) => Ok(child),
            Err(error) => {
                let _ = child.kill();
                let _ = child.wait();
                Err(error)
            }
        }
    }
}

impl Drop for Verifier {
    fn drop(&mut self) {
        self.withdraw_all();
    }
}
