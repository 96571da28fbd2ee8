//! The `gpuvcc` program: reads the command line, runs the driver, exits with its code.

use gpuvcc::driver::cli::{self, Command};
use gpuvcc::report::explain;
use std::io::Write;
use std::process::ExitCode;

fn main() -> ExitCode {
    // RUST_LOG=gpuvcc=debug tells what the solver is asked, and how long it takes.
    env_logger::init();
    match cli::parse(std::env::args_os()) {
        Ok(Command::Verify(options)) => ExitCode::from(gpuvcc::driver::run(&options)),
        Ok(Command::Run(options)) => ExitCode::from(gpuvcc::driver::emulate::run(&options)),
        Ok(Command::Record(options)) => ExitCode::from(gpuvcc::driver::record::run(&options)),
        Ok(Command::Merge(files)) => ExitCode::from(gpuvcc::driver::merge::run(&files)),
        Ok(Command::Lsp(options)) => ExitCode::from(gpuvcc::driver::lsp::run(&options)),
        Ok(Command::Explain(code)) => {
            let text = match code {
                // The command line knows only codes that have a page.
                Some(code) => explain::page(&code).unwrap_or_else(|message| message),
                None => explain::list(),
            };
            print(text.as_bytes())
        }
        Ok(Command::Print(text)) => print(&text),
        Err(error) => {
            let _ = error.print();
            ExitCode::from(u8::try_from(error.exit_code()).unwrap_or(2))
        }
    }
}

fn print(text: &[u8]) -> ExitCode {
    // A closed pipe (`| head`) is no failure.
    let _ = std::io::stdout().write_all(text);
    ExitCode::SUCCESS
}
