//! The program as a user meets it: exit codes, errors on one screen, help and explanations.
//!
//! Files under `tests/cli/input` say what they expect in their first comment lines:
//! `// args: ...` (further arguments), `// exit: N`, `// stderr: text` and `// stdout: text` (must
//! occur; repeatable). Everything else stands below as a named check.

use crate::support::formats;
use crate::support::program::{Ran, gpuvcc as gpuvcc_with_input};
use crate::support::schema;
use libtest_mimic::{Failed, Trial};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Lines that fit a terminal with some room for a prompt.
const SCREEN: usize = 45;
/// Lines of the help: every option and command has one, and most terminals are higher.
const HELP: usize = 61;

type Check = fn() -> Result<(), Failed>;

pub fn trials() -> Vec<Trial> {
    let mut trials: Vec<Trial> = inputs().into_iter().map(input_trial).collect();
    let checks: [(&str, Check); 16] = [
        ("help_fits_one_screen", help_fits_one_screen),
        ("completions_and_manual_pages", completions_and_manual_pages),
        ("usage_errors", usage_errors),
        ("unreadable_inputs", unreadable_inputs),
        ("garbage_of_50_megabytes", garbage_of_50_megabytes),
        ("standard_input", standard_input),
        ("one_bad_file_among_others", one_bad_file_among_others),
        ("litmus_tests", litmus_tests),
        ("output_into_a_closed_pipe", output_into_a_closed_pipe),
        ("run_names_dynamic_shared_memory", run_names_dynamic_shared_memory),
        ("a_barrier_is_offered_only_with_a_proof", a_barrier_is_offered_only_with_a_proof),
        ("reports_are_of_their_formats", reports_are_of_their_formats),
        ("colours_are_forced_and_forbidden", colours_are_forced_and_forbidden),
        ("explain", explain),
        ("every_code_is_explained", every_code_is_explained),
        ("every_opcode_is_explained", every_opcode_is_explained),
    ];
    trials.extend(checks.into_iter().map(|(name, check)| Trial::test(name, check)));
    trials
}

fn gpuvcc(arguments: &[&str]) -> Ran {
    gpuvcc_with_input(arguments, b"")
}

trait Expect {
    /// The exit code, a part of what is on stderr, and that it fits a screen.
    fn expect(&self, exit: i32, stderr: &str) -> Result<(), Failed>;

    fn failed(&self, what: &str) -> Failed;
}

impl Expect for Ran {
    fn expect(&self, exit: i32, stderr: &str) -> Result<(), Failed> {
        if self.exit != exit || !self.stderr.contains(stderr) {
            return Err(self.failed(&format!("expected exit {exit} and `{stderr}` on stderr")));
        }
        if self.stderr.lines().count() > SCREEN {
            return Err(self.failed("more than a screen on stderr"));
        }
        Ok(())
    }

    fn failed(&self, what: &str) -> Failed {
        let clip = |text: &str| text.chars().take(4000).collect::<String>();
        let (stdout, stderr) = (clip(&self.stdout), clip(&self.stderr));
        format!("{what}\nexit {}\n--- stdout\n{stdout}\n--- stderr\n{stderr}", self.exit).into()
    }
}

fn inputs() -> Vec<PathBuf> {
    let entries = std::fs::read_dir("tests/cli/input").expect("the folder of inputs");
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.expect("an entry").path()).collect();
    // Annotations and sources lie beside their PTX.
    paths.retain(|path| {
        path.extension().is_none_or(|extension| ["ptx", "ivl", "bpl"].iter().any(|known| extension == *known))
    });
    paths.sort();
    paths
}

fn input_trial(path: PathBuf) -> Trial {
    let name = format!("input/{}", path.file_name().expect("a file").to_string_lossy());
    Trial::test(name, move || run_input(&path))
}

fn run_input(path: &Path) -> Result<(), Failed> {
    let text = std::fs::read_to_string(path)?;
    let header: Vec<(&str, &str)> =
        text.lines().map_while(|line| line.strip_prefix("// ")).filter_map(|line| line.split_once(": ")).collect();
    let all = |key: &'static str| header.iter().filter(move |(name, _)| *name == key).map(|(_, value)| *value);
    let shown = path.to_string_lossy();
    let mut arguments = vec![&*shown];
    arguments.extend(all("args").flat_map(str::split_whitespace));
    let ran = gpuvcc(&arguments);
    let wrong = match arguments.iter().position(|argument| *argument == "--format").map(|at| arguments[at + 1]) {
        Some("json") => schema::wrong_in_json(&ran.stdout),
        Some("sarif") => formats::wrong_in_sarif(&ran.stdout),
        Some("junit") => formats::wrong_in_junit(&ran.stdout),
        _ => Vec::new(),
    };
    if !wrong.is_empty() {
        return Err(ran.failed(&wrong.join("\n")));
    }
    let exit = all("exit").next().ok_or("the header has no `exit:`")?.parse()?;
    ran.expect(exit, "")?;
    if let Some(wanted) = all("stderr").find(|wanted| !ran.stderr.contains(wanted)) {
        return Err(ran.failed(&format!("stderr lacks `{wanted}`")));
    }
    if let Some(wanted) = all("stdout").find(|wanted| !ran.stdout.contains(wanted)) {
        return Err(ran.failed(&format!("stdout lacks `{wanted}`")));
    }
    Ok(())
}

fn help_fits_one_screen() -> Result<(), Failed> {
    for flag in ["--help", "-h"] {
        let ran = gpuvcc(&[flag]);
        ran.expect(0, "")?;
        if ran.stdout.lines().count() > HELP || !ran.stdout.contains("gpuvcc run") {
            return Err(ran.failed("the help is too long, or does not tell of `run`"));
        }
        for command in ["run", "record", "merge", "explain", "lsp", "completions", "man"] {
            let ran = gpuvcc(&[command, flag]);
            ran.expect(0, "")?;
            if !ran.stdout.contains(&format!("Usage: gpuvcc {command}")) {
                return Err(ran.failed("a command without help"));
            }
        }
    }
    Ok(())
}

/// The name of a shell or of a command that is not there is a usage error that names those that are.
fn completions_and_manual_pages() -> Result<(), Failed> {
    for (arguments, wanted) in [
        (&["completions", "bash"][..], "--allow-same-value"),
        (&["completions", "fish"], "allow-same-value"),
        (&["man"], "gpuvcc\\-record(1)"),
        (&["man", "run"], "\\-\\-schedule"),
    ] {
        let ran = gpuvcc(arguments);
        ran.expect(0, "")?;
        if !ran.stdout.contains(wanted) {
            return Err(ran.failed(&format!("{arguments:?} lacks `{wanted}`")));
        }
    }
    gpuvcc(&["completions", "cmd"]).expect(2, "cmd")?;
    gpuvcc(&["man", "verify"]).expect(2, "record")
}

fn usage_errors() -> Result<(), Failed> {
    for (arguments, stderr) in [
        (&[][..], "<FILE>..."),
        (&["k.ptx", "--block", "0"], "neither a size"),
        (&["k.ptx", "--grid", "1,2,3,4"], "at most three sizes"),
        (&["k.ptx", "--param", "n"], "NAME=VALUE"),
        (&["k.ptx", "--timeout", "0"], "--timeout"),
        (&["k.ptx", "--jobs", "0"], "--jobs"),
        (&["k.ptx", "--exited-threads=maybe"], "--exited-threads"),
        (&["k.ptx", "--no-such-option"], "--no-such-option"),
        (&["k.ptx", "--omit-family", "affin"], "affine, affine-late"),
        (&["k.ptx", "--format", "dot", "--emit", "ast"], "--emit cfg"),
        (&["k.ptx", "--fail-on", "races"], "together: defect"),
        (&["k.ptx", "--fail-on", "any", "--emit", "ivl"], "for verdicts"),
        (&["k.ptx", "--block", "1024", "--grid", "4194304"], "--max-threads"),
        (&["run", "k.ptx", "--block", "2048"], "at most 1024"),
        (&["run", "k.ptx", "--arg", "ones:4"], "there are zeros"),
        (&["run", "k.ptx", "--warp-lockstep"], "--schedule lockstep"),
        (&["run", "tests/cli/input/nothing_to_check.ptx", "--arg", "1"], "parameters"),
        (&["explain", "possible-rase"], "possible-race"),
    ] {
        let ran = gpuvcc(arguments);
        ran.expect(2, stderr)?;
        if !ran.stdout.is_empty() {
            return Err(ran.failed("a usage error belongs on stderr"));
        }
    }
    Ok(())
}

/// An address behind what the launch has, in an array of the kernel's, with the option that mends it.
fn run_names_dynamic_shared_memory() -> Result<(), Failed> {
    let file = "tests/cli/run/dynamic_shared.ptx";
    let ran = gpuvcc(&["run", file, "--block", "32"]);
    let wanted = "byte 0 of `rows` is in dynamic shared memory, of which this launch has 0 bytes: give it at least 4 with \
                  --dynamic-shared";
    if ran.exit != 1 || !ran.stdout.contains(wanted) {
        return Err(ran.failed(&format!("expected exit 1 and `{wanted}` on stdout")));
    }
    gpuvcc(&["run", file, "--block", "32", "--dynamic-shared", "128"]).expect(0, "")
}

/// Where another race is left, the barrier that was tried is not told.
fn a_barrier_is_offered_only_with_a_proof() -> Result<(), Failed> {
    let ran = gpuvcc(&["tests/cli/run/barrier_not_enough.ptx", "--block", "32", "--grid", "1"]);
    let has_help = ran.stdout.contains("help: no barrier between PTX line 19 and PTX line 20");
    if ran.exit != 1 || !has_help || ran.stdout.contains("it is proved") {
        return Err(ran.failed("expected exit 1, what barrier is missing, and no offer"));
    }
    Ok(())
}

/// Whatever a report is about: kernels, procedures, executions, errors, limits.
fn reports_are_of_their_formats() -> Result<(), Failed> {
    for arguments in [
        &["tests/cli/input/nothing_to_check.ptx", "--stats"][..],
        &["tests/cli/input/format_short.ptx", "--block", "32", "--grid", "1"],
        &["tests/cli/input/unknown_function_refused.ptx", "no/such/file.ptx"],
        &["tests/cli/input/mangled_names.ptx", "tests/cli/input/answers_soon.ptx", "tests/cli/input/aligned_rule.ptx"],
        &[
            "tests/procedures/loops.bpl",
            "tests/cli/input/inferred_modifies.bpl",
            "tests/cli/input/attribute_candidate.ivl",
        ],
        &["run", "tests/cli/run/dynamic_shared.ptx", "--block", "32"],
        &["run", "tests/cli/input/nothing_to_check.ptx"],
    ] {
        for (format, wrong) in [
            ("json", schema::wrong_in_json as fn(&str) -> Vec<String>),
            ("sarif", formats::wrong_in_sarif),
            ("junit", formats::wrong_in_junit),
        ] {
            let ran = gpuvcc(&[arguments, &["--format", format]].concat());
            let wrong = wrong(&ran.stdout);
            if !wrong.is_empty() {
                return Err(ran.failed(&format!("{arguments:?} {format}: {}", wrong.join("\n"))));
            }
        }
        let ran = gpuvcc(&[arguments, &["--format", "short"]].concat());
        // Each line says where and how grave, and ends with its code.
        let is_line = |line: &str| {
            let grade = [": error: ", ": warning: ", ": note: "].iter().any(|grade| line.contains(grade));
            grade && line.ends_with(']') && !line.starts_with(' ')
        };
        if let Some(line) = ran.stdout.lines().find(|line| !is_line(line)) {
            return Err(ran.failed(&format!("{arguments:?}: `{line}`")));
        }
    }
    Ok(())
}

fn colours_are_forced_and_forbidden() -> Result<(), Failed> {
    for (variables, colours) in [
        (&[][..], false),
        (&[("FORCE_COLOR", "1")], true),
        (&[("FORCE_COLOR", "0")], false),
        (&[("FORCE_COLOR", "1"), ("NO_COLOR", "1")], false),
    ] {
        let mut command = Command::new(env!("CARGO_BIN_EXE_gpuvcc"));
        command
            .args(["tests/cli/input/nothing_to_check.ptx", "--quiet"])
            .env_remove("FORCE_COLOR")
            .env_remove("NO_COLOR");
        let output = command.envs(variables.iter().copied()).output()?;
        if output.stdout.contains(&0x1b) != colours {
            return Err(format!("{variables:?}: {}", String::from_utf8_lossy(&output.stdout)).into());
        }
    }
    Ok(())
}

fn unreadable_inputs() -> Result<(), Failed> {
    let folder = tempfile::tempdir()?;
    let write = |name: &str, bytes: &[u8]| -> Result<String, Failed> {
        let path = folder.path().join(name);
        std::fs::write(&path, bytes)?;
        Ok(path.to_string_lossy().into_owned())
    };
    gpuvcc(&["no/such/file.ptx"]).expect(2, "cannot read `no/such/file.ptx`")?;
    gpuvcc(&[&folder.path().to_string_lossy()]).expect(2, "a directory")?;
    gpuvcc(&[&write("elf.ptx", b"\x7fELF\x02\x01\x00\x00")?]).expect(2, "a damaged ELF file")?;
    gpuvcc(&[&write("binary.ptx", b"\x00\x01\x00")?]).expect(2, "a binary file")?;
    gpuvcc(&[&write("latin1.ptx", b"// caf\xe9\n.version 8.0\n")?]).expect(2, "not UTF-8")?;
    gpuvcc(&[&write("empty.ptx", b"")?]).expect(2, "empty.ptx")?;
    gpuvcc(&[&write("empty.ivl", b"")?]).expect(2, "empty.ivl")?;
    gpuvcc(&[&write("escape.ptx", b"\x1b[31m\x07 } ) .version")?]).expect(2, "escape.ptx")?;
    gpuvcc(&[&write("deep.ptx", "(".repeat(200_000).as_bytes())?]).expect(2, "deep.ptx")?;
    gpuvcc(&[&write("deep.ivl", "(".repeat(200_000).as_bytes())?]).expect(2, "deep.ivl")
}

/// Neither the time nor the output may grow with the number of errors.
fn garbage_of_50_megabytes() -> Result<(), Failed> {
    let folder = tempfile::tempdir()?;
    let size = 50 << 20;
    // A linear congruential generator: any printable bytes will do, the same ones each time.
    let mut state = 1u32;
    let mut next = || {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        state >> 24
    };
    let lines: Vec<u8> = (0..size).map(|_| if next() < 6 { b'\n' } else { b' ' + (next() % 95) as u8 }).collect();
    let bytes: Vec<u8> = (0..size).map(|_| next() as u8).collect();
    let repeated = |head: &str, token: &str| [head, &token.repeat(size / token.len())].concat().into_bytes();
    let kernel = ".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry k() {\n";
    for (name, garbage, expected) in [
        ("lines.ptx", lines, "lines.ptx"),
        ("bytes.ptx", bytes, "binary"),
        ("one_line.ptx", repeated("", "#"), "one_line.ptx"),
        ("one_token.ptx", repeated("", "mov "), "one_token.ptx"),
        ("one_instruction.ptx", repeated(kernel, "ret; "), "a function of more than"),
        ("scopes.ptx", repeated(kernel, "{ "), "deep"),
        ("one_word.ivl", repeated("", "x"), "one_word.ivl"),
        ("one_token.ivl", repeated("", "procedure "), "longer than"),
        ("signs.ivl", repeated("procedure p() { assert ", "!"), "longer than"),
        ("branches.ivl", repeated("procedure p() { if (*) {} ", "else if (*) {} "), "longer than"),
    ] {
        let path = folder.path().join(name);
        std::fs::write(&path, garbage)?;
        let started = std::time::Instant::now();
        gpuvcc(&[&path.to_string_lossy()]).expect(2, expected)?;
        if started.elapsed().as_secs() > 30 {
            return Err(format!("{name}: {:?}", started.elapsed()).into());
        }
        std::fs::remove_file(&path)?;
    }
    Ok(())
}

fn standard_input() -> Result<(), Failed> {
    gpuvcc_with_input(&["-"], b".version 8.0\n.target sm_70\n.address_size 64\n).frobnicate").expect(2, "<stdin>:4")?;
    gpuvcc_with_input(&["-"], b"procedure ( {").expect(2, "<stdin>:1")
}

fn litmus_tests() -> Result<(), Failed> {
    let test = |name: &str| format!("tests/litmus/{name}.litmus");
    let (decided, open, wrong) = (test("mp_clusters"), test("loop_too_long"), test("error_opcode"));
    let says = |arguments: &[&str], exit: i32, stderr: &str, stdout: &str| {
        let ran = gpuvcc(arguments);
        ran.expect(exit, stderr)?;
        if ran.stdout.contains(stdout) { Ok(()) } else { Err(ran.failed(&format!("stdout lacks `{stdout}`"))) }
    };
    says(&[&decided], 0, "", "mp-clusters: allowed, racy\n")?;
    says(&[&open], 3, "", ": unknown, unknown\n")?;
    // An error has its place; it counts more than what is open, and the others are answered.
    says(&[&wrong, &open, &decided], 2, "tests/litmus/error_opcode.litmus:5", "mp-clusters: allowed, racy\n")?;
    says(&["no-such.litmus", &decided], 2, "no-such.litmus", "mp-clusters: allowed, racy\n")?;
    says(&[&decided, "tests/races/message.ptx"], 2, "tests/races/message.ptx", "")?;
    says(&[&decided, "--model", "no-such.cat"], 2, "no-such.cat", "")?;
    says(&[&decided, "--format", "dot"], 0, "", "digraph")?;
    let json = gpuvcc(&[&decided, &open, "--format", "json"]);
    json.expect(3, "")?;
    let lines: Result<Vec<serde_json::Value>, _> = json.stdout.lines().map(serde_json::from_str).collect();
    let lines = lines.map_err(|error| json.failed(&error.to_string()))?;
    let fields = |line: &serde_json::Value| ["name", "outcome", "racy", "holds"].map(|field| line[field].to_string());
    let expected = [["\"mp-clusters\"", "\"allowed\"", "true", "true"], ["", "\"unknown\"", "null", "null"]];
    let is_so = |(line, expected): (&serde_json::Value, &[&str; 4])| {
        fields(line).iter().zip(expected).all(|(field, expected)| expected.is_empty() || field == expected)
    };
    if lines.len() != 2 || !lines.iter().zip(&expected).all(is_so) {
        return Err(json.failed("other lines of JSON were expected"));
    }
    // Standard input, whole and with an error.
    let text = std::fs::read(&decided)?;
    let ran = gpuvcc_with_input(&["-"], &text);
    ran.expect(0, "")?;
    if ran.stdout != "mp-clusters: allowed, racy\n" {
        return Err(ran.failed("the test on standard input was not judged"));
    }
    gpuvcc_with_input(&["-"], &std::fs::read(&wrong)?).expect(2, "<stdin>:5")
}

fn one_bad_file_among_others() -> Result<(), Failed> {
    let ran = gpuvcc(&["tests/cli/input/nothing_to_check.ptx", "no-such-file.ptx", "--quiet"]);
    ran.expect(2, "no-such-file.ptx")?;
    if !ran.stdout.contains("empty: verified") {
        return Err(ran.failed("the good file was not looked at"));
    }
    Ok(())
}

fn output_into_a_closed_pipe() -> Result<(), Failed> {
    for arguments in [&["explain"][..], &["no-such-file.ptx", "--format", "json"]] {
        let mut child = Command::new(env!("CARGO_BIN_EXE_gpuvcc"))
            .args(arguments)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()?;
        drop(child.stdout.take());
        let output = child.wait_with_output()?;
        if String::from_utf8_lossy(&output.stderr).contains("panicked") {
            return Err(format!("{arguments:?} panicked").into());
        }
    }
    Ok(())
}

fn explain() -> Result<(), Failed> {
    let ran = gpuvcc(&["explain"]);
    ran.expect(0, "")?;
    for entry in gpuvcc::report::explain::all() {
        let page = gpuvcc::report::explain::page(entry.code)?;
        if page.lines().count() > SCREEN || page.lines().any(|line| line.chars().count() > 120) {
            return Err(format!("the page of {} does not fit a screen", entry.code).into());
        }
        if !ran.stdout.contains(entry.code) {
            return Err(format!("the list lacks {}", entry.code).into());
        }
    }
    gpuvcc(&["explain", "race"]).expect(0, "")
}

/// Every opcode has a page; those of some are kept in snapshots/explain.
fn every_opcode_is_explained() -> Result<(), Failed> {
    for row in gpuvcc::ptx::table::rows() {
        let page = gpuvcc::report::explain::page(row.form.opcode)?;
        if !page.contains(&row.class().to_string()) {
            return Err(format!("the page of {} lacks a class", row.form.opcode).into());
        }
    }
    for opcode in ["atom.add", "ld.global.nc", "mbarrier.arrive", "bar", "setp", "prefetch"] {
        let ran = gpuvcc(&["explain", opcode]);
        ran.expect(0, "")?;
        let mut settings = insta::Settings::new();
        settings.set_snapshot_path(Path::new(env!("CARGO_MANIFEST_DIR")).join("snapshots/explain"));
        settings.set_prepend_module_to_snapshot(false);
        settings.set_omit_expression(true);
        settings.bind(|| insta::assert_snapshot!(opcode, ran.stdout));
    }
    gpuvcc(&["explain", "mbarier.arrive"]).expect(2, "mbarrier")?;
    gpuvcc(&["explain", "ld.golbal"]).expect(2, "did you mean .global")
}

/// Every code that a stage hands to a diagnostic or a reason must have a page.
fn every_code_is_explained() -> Result<(), Failed> {
    let mut missing = Vec::new();
    let mut seen = 0;
    for path in rust_files(Path::new("src")) {
        let text = std::fs::read_to_string(&path)?;
        for code in codes_in(&text) {
            seen += 1;
            if gpuvcc::report::explain::find(code).is_none() {
                missing.push(format!("{code} ({})", path.display()));
            }
        }
    }
    missing.sort();
    missing.dedup();
    if seen == 0 || !missing.is_empty() {
        return Err(format!("{seen} codes found; without a page: {}", missing.join(", ")).into());
    }
    Ok(())
}

fn rust_files(folder: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    for entry in std::fs::read_dir(folder).expect("a folder of sources") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            files.extend(rust_files(&path));
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            files.push(path);
        }
    }
    files
}

/// The literals that stand where a code stands: first argument of a diagnostic's constructor, or the
/// field `code` of a reason. Explanations themselves use the field too, which does no harm.
fn codes_in(text: &str) -> Vec<&str> {
    let mut codes = Vec::new();
    for opening in ["error(", "unplaced(", "unsupported(", "warning(", "refuse(", "code:", "code =", "CODE: &str ="] {
        for (at, _) in text.match_indices(opening) {
            let rest = text[at + opening.len()..].trim_start();
            let Some(literal) = rest.strip_prefix('"').and_then(|rest| rest.split('"').next()) else {
                continue;
            };
            let kebab = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
            if !literal.is_empty() && literal.bytes().all(kebab) {
                codes.push(literal);
            }
        }
    }
    codes
}
