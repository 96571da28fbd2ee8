//! `gpuvcc lsp`: a language server, which editors start and talk to over standard input and output.
//!
//! Input: messages of the Language Server Protocol. Output: the same: diagnostics, what codes and instructions mean, the verdict
//! above each kernel. Establishes: a verdict is shown only of the text that was verified: a change takes it back, and ends the
//! verification that runs; no message and no file ends the server but `exit` and the end of the input. Relies on: `pipeline`
//! for errors while one types, and the program itself (`gpuvcc FILE --format json`) for verdicts, so that an editor shows what
//! the command line says, and a proof that takes all memory ends without the server. Reference: Language Server Protocol 3.17.

mod cuda;
mod document;
mod hover;
mod lens;
mod position;
mod report;
mod server;
mod shown;
mod syntax;
mod transport;
mod uri;
mod verify;

use crate::jobs;
use server::Server;
use std::num::NonZeroUsize;
use std::ops::ControlFlow;
use std::sync::mpsc;
use std::thread::Builder;
use std::time::Duration;
use transport::Event;

/// What the command line says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LspOptions {
    /// Time for a kernel.
    pub timeout: Duration,
    /// Threads of a verification; one a core when `None`.
    pub jobs: Option<NonZeroUsize>,
}

/// Serves one client until it leaves, and answers the exit code: 0 if it asked for the end before.
pub fn run(options: &LspOptions) -> u8 {
    jobs::quiet_panics();
    let (sender, events) = mpsc::channel();
    let mut server = Server::new(options.clone(), sender.clone());
    let listener = move || transport::listen(std::io::stdin().lock(), &sender);
    if let Err(error) = Builder::new().name("listener".to_string()).spawn(listener) {
        log(&format!("no thread that reads: {error}"));
        return 4;
    }
    let mut next = events.recv().ok();
    while let Some(event) = next {
        let is_end = matches!(event, Event::Closed);
        // A bug of ours is told, and costs the answer to one message.
        match jobs::guarded(|| server.take(event)) {
            Ok(ControlFlow::Continue(())) => {}
            Ok(ControlFlow::Break(code)) => return code,
            Err(message) => log(&format!("internal error: {message}")),
        }
        if is_end {
            break;
        }
        // What waits may change the same text once more.
        next = events.try_recv().ok().or_else(|| {
            if let Err(message) = jobs::guarded(|| server.settle()) {
                log(&format!("internal error: {message}"));
            }
            events.recv().ok()
        });
    }
    server.leave();
    1
}

/// Editors show what a server says on its standard error.
fn log(text: &str) {
    eprintln!("gpuvcc lsp: {text}");
}
