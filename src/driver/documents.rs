//! What is made from the definition of the command line: completions of shells, manual pages.
//!
//! Input: clap's definition of the command line. Output: text. Establishes: every command and option is in it, also
//! those that `--help` leaves out because it has to fit a screen. Relies on: `cli`. Reference: man-pages(7).

use clap::Command;
use clap_complete::Shell;
use clap_mangen::Man;

/// The script that `SHELL` reads to complete commands of gpuvcc.
pub(super) fn completions(command: Command, shell: Shell) -> Vec<u8> {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut with_all_commands(command), "gpuvcc", &mut script);
    script
}

/// The manual page (roff) of gpuvcc, or of one of its commands; otherwise a message that names them.
pub(super) fn manual(command: Command, name: Option<&str>) -> Result<Vec<u8>, String> {
    let mut all = with_all_commands(command);
    // Names of commands within gpuvcc, such as gpuvcc-run.
    all.build();
    let shown = match name {
        None => Some(&all),
        Some(name) => all.find_subcommand(name),
    };
    let Some(shown) = shown else {
        let names: Vec<&str> = all.get_subcommands().map(Command::get_name).collect();
        return Err(format!("no command `{}`: there are {}", name.unwrap_or_default(), names.join(", ")));
    };
    let mut page = Vec::new();
    match Man::new(shown.clone()).render(&mut page) {
        Ok(()) => Ok(page),
        // Memory takes all that is written to it.
        Err(error) => Err(format!("the page cannot be written: {error}")),
    }
}

fn with_all_commands(command: Command) -> Command {
    command.mut_subcommands(|command| command.hide(false))
}

#[cfg(test)]
mod tests {
    use crate::driver::cli::{Command, parse};
    use clap::ValueEnum;

    fn printed(arguments: &[&str]) -> String {
        match parse([&["gpuvcc"], arguments].concat()) {
            Ok(Command::Print(text)) => String::from_utf8(text).expect("text"),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn every_shell_completes_options_and_commands() {
        for shell in clap_complete::Shell::value_variants() {
            let script = printed(&["completions", &shell.to_string()]);
            for word in ["max-threads", "record", "schedule"] {
                assert!(script.contains(word), "{shell}: {word}");
            }
        }
    }

    #[test]
    fn manual_pages_name_options_and_commands() {
        let page = printed(&["man"]);
        for word in ["\\-\\-allow\\-same\\-value", "gpuvcc\\-record(1)", "1 a confirmed defect"] {
            assert!(page.contains(word), "{word}\n{page}");
        }
        assert!(printed(&["man", "run"]).contains("\\-\\-schedule"));
        assert!(parse(["gpuvcc", "man", "verify"]).is_err());
    }
}
