//! What the server answers.
//!
//! Input: events. Output: messages. Establishes: each request has one answer; a notification that it cannot read changes nothing.
//! Relies on: `document`, `verify`. Reference: Language Server Protocol 3.17, "Server lifecycle".

use super::document::{Answer, Document};
use super::shown::Shown;
use super::transport::Event;
use super::verify::{Finished, Verifier};
use super::{LspOptions, hover, lens, log};
use crate::jobs;
use lsp_server::{ErrorCode, Message, Notification, Request, RequestId, Response, ResponseError};
use lsp_types::{
    CodeLensOptions, CodeLensParams, DidChangeTextDocumentParams, DidCloseTextDocumentParams,
    DidOpenTextDocumentParams, DidSaveTextDocumentParams, HoverParams, HoverProviderCapability, InitializeParams,
    InitializeResult, PublishDiagnosticsParams, ServerCapabilities, ServerInfo, TextDocumentSyncKind,
    TextDocumentSyncOptions,
};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::sync::mpsc::Sender;

/// How far the conversation is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    /// Nothing but `initialize` has an answer.
    New,
    Open,
    /// Nothing but `exit` is wanted.
    ShutDown,
}

pub(super) struct Server {
    phase: Phase,
    /// By URI.
    documents: BTreeMap<String, Document>,
    verifier: Verifier,
    /// Whether the client asks again for lenses when it is told to.
    refreshes_lenses: bool,
    requests: i32,
}

/// The answer to a request.
type Answered = Result<Value, ResponseError>;

impl Server {
    /// Results come as events.
    pub(super) fn new(options: LspOptions, events: Sender<Event>) -> Self {
        let (documents, verifier) = (BTreeMap::new(), Verifier::new(options, events));
        Server { phase: Phase::New, documents, verifier, refreshes_lenses: false, requests: 0 }
    }

    /// Takes an event; `Break` is the exit code.
    pub(super) fn take(&mut self, event: Event) -> ControlFlow<u8> {
        match event {
            Event::Message(Message::Request(request)) => self.request(request),
            Event::Message(Message::Notification(notification)) if notification.method == "exit" => {
                self.leave();
                return ControlFlow::Break(if self.phase == Phase::ShutDown { 0 } else { 1 });
            }
            Event::Message(Message::Notification(notification)) if self.phase == Phase::Open => {
                self.notification(notification);
            }
            // Answers to what we ask say nothing; before and after a conversation nothing counts.
            Event::Message(Message::Notification(_) | Message::Response(_)) | Event::Closed => {}
            Event::Unreadable(message) => log(&format!("passed over what is no message: {message}")),
            Event::Finished(finished) => self.finished(&finished),
        }
        ControlFlow::Continue(())
    }

    /// Reads and shows the texts that changed, and verifies those that were asked for.
    pub(super) fn settle(&mut self) {
        let changed: Vec<String> =
            self.documents.iter().filter(|(_, document)| !document.is_read()).map(|(uri, _)| uri.clone()).collect();
        changed.iter().for_each(|uri| self.publish(uri));
    }

    /// Nothing more is wanted.
    pub(super) fn leave(&mut self) {
        self.verifier.withdraw_all();
    }

    fn request(&mut self, request: Request) {
        let Request { id, method, params } = request;
        // A bug of ours is an answer, too.
        let answered = jobs::guarded(|| self.answer_to(&method, params));
        let answered = answered.unwrap_or_else(|message| Err(error(ErrorCode::InternalError, &message)));
        send(&Message::Response(Response { id, response_result: answered }));
    }

    fn answer_to(&mut self, method: &str, params: Value) -> Answered {
        match (self.phase, method) {
            (Phase::New, "initialize") => self.initialize(params),
            (Phase::New, _) => Err(error(ErrorCode::ServerNotInitialized, "`initialize` comes first")),
            (Phase::ShutDown, _) => Err(error(ErrorCode::InvalidRequest, "the server is shut down")),
            (Phase::Open, "shutdown") => {
                self.phase = Phase::ShutDown;
                self.leave();
                Ok(Value::Null)
            }
            (Phase::Open, "textDocument/hover") => self.hover(params),
            (Phase::Open, "textDocument/codeLens") => self.lenses(params),
            (Phase::Open, "initialize") => Err(error(ErrorCode::InvalidRequest, "a second `initialize`")),
            (Phase::Open, _) => Err(error(ErrorCode::MethodNotFound, &format!("no method `{method}`"))),
        }
    }

    fn initialize(&mut self, params: Value) -> Answered {
        let params: InitializeParams = read(params)?;
        let lenses = params.capabilities.workspace.and_then(|workspace| workspace.code_lens);
        self.refreshes_lenses = lenses.and_then(|lenses| lenses.refresh_support).unwrap_or(false);
        self.phase = Phase::Open;
        let capabilities = ServerCapabilities {
            text_document_sync: Some(
                TextDocumentSyncOptions {
                    open_close: Some(true),
                    change: Some(TextDocumentSyncKind::FULL),
                    save: Some(true.into()),
                    ..TextDocumentSyncOptions::default()
                }
                .into(),
            ),
            hover_provider: Some(HoverProviderCapability::Simple(true)),
            code_lens_provider: Some(CodeLensOptions { resolve_provider: Some(false) }),
            ..ServerCapabilities::default()
        };
        let version = Some(env!("CARGO_PKG_VERSION").to_string());
        value(&InitializeResult { capabilities, server_info: Some(ServerInfo { name: "gpuvcc".to_string(), version }) })
    }

    fn hover(&mut self, params: Value) -> Answered {
        let HoverParams { text_document_position_params: place, .. } = read(params)?;
        let document = self.documents.get_mut(place.text_document.uri.as_str());
        value(&document.and_then(|document| hover::at(document, place.position)))
    }

    fn lenses(&mut self, params: Value) -> Answered {
        let CodeLensParams { text_document, .. } = read(params)?;
        value(&self.documents.get_mut(text_document.uri.as_str()).map(lens::all).unwrap_or_default())
    }

    fn notification(&mut self, notification: Notification) {
        let Notification { method, params } = notification;
        let taken = match method.as_str() {
            "textDocument/didOpen" => read(params).map(|params| self.opened(params)),
            "textDocument/didChange" => read(params).map(|params| self.changed(params)),
            "textDocument/didSave" => read(params).map(|params: DidSaveTextDocumentParams| {
                self.verify(params.text_document.uri.as_str());
            }),
            "textDocument/didClose" => read(params).map(|params| self.closed(&params)),
            _ => Ok(()),
        };
        if let Err(error) = taken {
            log(&format!("passed over {method}: {}", error.message));
        }
    }

    fn opened(&mut self, params: DidOpenTextDocumentParams) {
        let opened = params.text_document;
        let key = opened.uri.as_str().to_string();
        if let Some(document) = Document::open(opened.uri, &opened.language_id, opened.version, &opened.text) {
            self.documents.insert(key.clone(), document);
            self.verify(&key);
        }
    }

    fn changed(&mut self, params: DidChangeTextDocumentParams) {
        let key = params.text_document.uri.as_str();
        // The whole text, as was agreed; a client that sends a part did not listen.
        let last = params.content_changes.into_iter().next_back().filter(|change| change.range.is_none());
        if let (Some(document), Some(last)) = (self.documents.get_mut(key), last) {
            document.change(params.text_document.version, &last.text);
            self.verifier.withdraw(key);
        }
    }

    fn closed(&mut self, params: &DidCloseTextDocumentParams) {
        let key = params.text_document.uri.as_str();
        self.verifier.withdraw(key);
        if let Some(document) = self.documents.remove(key) {
            show(PublishDiagnosticsParams { uri: document.uri, diagnostics: Vec::new(), version: None });
        }
    }

    /// Verifies a document, if it can be, and shows what is known of it until then.
    fn verify(&mut self, key: &str) {
        let Some(document) = self.documents.get_mut(key) else { return };
        let path = document.take_pending();
        document.answer = if path.is_some() { Answer::Pending } else { Answer::None };
        if let Some(path) = path {
            self.verifier.request(key, &path);
        }
        self.publish(key);
    }

    fn finished(&mut self, finished: &Finished) {
        let Some(key) = self.verifier.document_of(finished) else { return };
        let Some(document) = self.documents.get_mut(&key) else { return };
        let read = match &finished.output {
            Ok(output) => Shown::read(document, output),
            Err(message) => Err(message.clone()),
        };
        document.answer = Answer::Known(read.unwrap_or_else(|message| Shown::failure(&message)));
        self.publish(&key);
    }

    /// Shows what is known of a document.
    fn publish(&mut self, key: &str) {
        let Some(document) = self.documents.get_mut(key) else { return };
        let (uri, version) = (document.uri.clone(), Some(document.version));
        show(PublishDiagnosticsParams { uri, diagnostics: document.diagnostics(), version });
        if self.refreshes_lenses {
            self.requests += 1;
            let method = "workspace/codeLens/refresh".to_string();
            send(&Message::Request(Request { id: RequestId::from(self.requests), method, params: Value::Null }));
        }
    }
}

fn show(params: PublishDiagnosticsParams) {
    let method = "textDocument/publishDiagnostics".to_string();
    match value(&params) {
        Ok(params) => send(&Message::Notification(Notification { method, params })),
        Err(error) => log(&error.message),
    }
}

/// A client that no longer listens closes its end, too, and that is seen.
fn send(message: &Message) {
    if let Err(error) = message.write(&mut std::io::stdout().lock()) {
        log(&format!("nothing can be said: {error}"));
    }
}

fn read<T: DeserializeOwned>(params: Value) -> Result<T, ResponseError> {
    serde_json::from_value(params).map_err(|mistake| error(ErrorCode::InvalidParams, &mistake.to_string()))
}

fn value(result: &impl Serialize) -> Answered {
    serde_json::to_value(result).map_err(|mistake| error(ErrorCode::InternalError, &mistake.to_string()))
}

fn error(code: ErrorCode, message: &str) -> ResponseError {
    ResponseError { code: code as i32, message: message.to_string(), data: None }
}
