//! The program itself, run as a user runs it.

use std::io::Write;
use std::process::{Command, Stdio};

/// What a run of the program gave.
pub struct Ran {
    /// Its exit code.
    pub exit: i32,
    /// What it printed.
    pub stdout: String,
    /// Its messages.
    pub stderr: String,
}

/// Runs the program with this standard input to its end.
pub fn gpuvcc(arguments: &[&str], input: &[u8]) -> Ran {
    let mut child = Command::new(env!("CARGO_BIN_EXE_gpuvcc"))
        .args(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the program starts");
    // A program that does not read its input closes the pipe, which is not this test's business.
    let _ = child.stdin.take().expect("stdin is piped").write_all(input);
    let output = child.wait_with_output().expect("the program ends");
    Ran {
        exit: output.status.code().expect("the program was not killed"),
        stdout: String::from_utf8_lossy(&output.stdout).into_owned(),
        stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
    }
}
