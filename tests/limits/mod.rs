//! `--timeout` and `--memory`: each kernel has an answer soon after its time is over, with the stage that was running; the
//! memory stays bounded; the other kernels of the run are answered as usual.
//!
//! No figure of speed: the time may be exceeded by a factor that a machine under load does not reach.

#[cfg(unix)]
mod clock;
mod inputs;

use libtest_mimic::{Failed, Trial};
use std::io::Read;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// `--timeout`, in seconds.
const SECONDS: u64 = 1;

/// `--memory`, in 10^6 bytes.
const MEGABYTES: u64 = 1000;

/// Within how many times its time a kernel is answered.
const PATIENCE: u64 = 12;

pub fn trials() -> Vec<Trial> {
    let kernels = [
        ("chained_products", inputs::chained_products(12)),
        ("jump_table", inputs::jump_table(1500)),
        ("scattered_stores", inputs::scattered_stores(1500)),
        ("nested_loops", inputs::nested_loops(8)),
        ("specialised_warps", inputs::specialised_warps(12, 60)),
    ];
    let mut trials = Vec::new();
    for (name, text) in kernels {
        let (verified, printed) = (text.clone(), text);
        trials.push(Trial::test(format!("verify/{name}"), move || is_answered(&verified)));
        trials.push(Trial::test(format!("emit/{name}"), move || is_printed_or_refused(&printed)));
    }
    trials.push(Trial::test("bad_values", bad_values));
    trials.push(Trial::test("memory_ends_a_kernel", memory_ends_a_kernel));
    #[cfg(unix)]
    trials.extend([Trial::test("stopped_and_continued", clock::stopped_and_continued)]);
    #[cfg(unix)]
    trials.push(Trial::test("an_interrupt_shows_what_was_found", an_interrupt_shows_what_was_found));
    trials
}

/// What a process did.
struct Ran {
    code: Option<i32>,
    stdout: String,
    stderr: String,
    time: Duration,
    /// The most memory that it had, in bytes, where the system tells.
    memory: u64,
}

impl Ran {
    fn failed(&self, message: &str) -> Failed {
        let Ran { code, stdout, stderr, time, memory } = self;
        format!("{message}\nexit {code:?}, {time:?}, {memory} bytes\n--- stdout\n{stdout}\n--- stderr\n{stderr}").into()
    }

    fn is_bounded(&self, kernels: u64) -> Result<(), Failed> {
        if self.time > Duration::from_secs(SECONDS * PATIENCE * kernels) {
            return Err(self.failed("it took too long"));
        }
        if self.memory > MEGABYTES * 1_500_000 {
            return Err(self.failed("it took too much memory"));
        }
        Ok(())
    }
}

fn start(options: &[&str]) -> Child {
    let mut command = Command::new(env!("CARGO_BIN_EXE_gpuvcc"));
    command.args(options).stdout(Stdio::piped()).stderr(Stdio::piped());
    command.spawn().unwrap_or_else(|error| panic!("{error}"))
}

fn run(options: &[&str]) -> Ran {
    wait(start(options), |_| {})
}

/// Reads what a process prints, until it ends.
fn wait(mut child: Child, mut meanwhile: impl FnMut(&Child)) -> Ran {
    let begin = Instant::now();
    fn reader(mut from: impl Read + Send + 'static) -> std::thread::JoinHandle<String> {
        std::thread::spawn(move || {
            let mut text = String::new();
            from.read_to_string(&mut text).unwrap_or_else(|error| panic!("{error}"));
            text
        })
    }
    let stdout = reader(child.stdout.take().unwrap_or_else(|| panic!("no stdout")));
    let stderr = reader(child.stderr.take().unwrap_or_else(|| panic!("no stderr")));
    let mut memory = 0;
    let status = loop {
        memory = memory.max(most_memory(child.id()));
        meanwhile(&child);
        if let Some(status) = child.try_wait().unwrap_or_else(|error| panic!("{error}")) {
            break status;
        }
        std::thread::sleep(Duration::from_millis(20));
    };
    let text = |reader: std::thread::JoinHandle<String>| reader.join().unwrap_or_else(|_| panic!("a reader"));
    Ran { code: status.code(), stdout: text(stdout), stderr: text(stderr), time: begin.elapsed(), memory }
}

/// The most memory that a process had so far, in bytes.
fn most_memory(process: u32) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{process}/status")).unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let kilobytes = line.and_then(|line| line.trim().trim_end_matches("kB").trim().parse::<u64>().ok());
    kilobytes.unwrap_or_default() * 1024
}

fn file(text: &str) -> tempfile::NamedTempFile {
    let file = tempfile::Builder::new().suffix(".ptx").tempfile().unwrap_or_else(|error| panic!("{error}"));
    std::fs::write(file.path(), text).unwrap_or_else(|error| panic!("{error}"));
    file
}

/// The kernel has an answer in time, and so has the one behind it.
fn is_answered(text: &str) -> Result<(), Failed> {
    let (slow, simple) = (file(text), file(&inputs::simple()));
    let paths = [slow.path(), simple.path()].map(|path| path.to_string_lossy().into_owned());
    let (seconds, memory) = (SECONDS.to_string(), MEGABYTES.to_string());
    let limits = ["--timeout", &seconds, "--memory", &memory, "--jobs", "1"];
    let ran = run(&[&limits[..], &[&paths[0], &paths[1], "--block", "32", "--grid", "1"]].concat());
    ran.is_bounded(2)?;
    if !ran.stdout.contains(": simple: verified") {
        return Err(ran.failed("the other kernel was not answered"));
    }
    let Some(line) = ran.stdout.lines().find(|line| line.contains(": k: ")) else {
        return Err(ran.failed("the kernel was not answered"));
    };
    let names_stage = ran.stdout.contains("what was running: ") || ran.stdout.contains("[unknown-solver-limit]");
    match ran.code {
        Some(3) if line.contains(": k: unknown") && !names_stage => Err(ran.failed("the reason names no stage")),
        Some(0 | 1 | 3) => Ok(()),
        _ => Err(ran.failed("no answer")),
    }
}

/// Stages are printed, or the reason for that there are none.
fn is_printed_or_refused(text: &str) -> Result<(), Failed> {
    let slow = file(text);
    let (seconds, memory) = (SECONDS.to_string(), MEGABYTES.to_string());
    let path = slow.path().to_string_lossy().into_owned();
    let ran = run(&["--emit", "ivl", "--timeout", &seconds, "--memory", &memory, &path]);
    ran.is_bounded(1)?;
    match ran.code {
        Some(0) if !ran.stdout.is_empty() => Ok(()),
        Some(3) if ran.stdout.is_empty() && ran.stderr.contains("what was running: ") => Ok(()),
        _ => Err(ran.failed("neither a stage nor a reason")),
    }
}

fn bad_values() -> Result<(), Failed> {
    for option in
        ["--timeout=0", "--timeout=-1", "--timeout=x", "--memory=0", "--memory=-1", "--memory=x", "--memory=99"]
    {
        let ran = run(&[option, "k.ptx"]);
        let name = option.split('=').next().unwrap_or_default();
        if ran.code != Some(2) || !ran.stderr.contains(name) {
            return Err(ran.failed(option));
        }
    }
    Ok(())
}

/// Past the memory a kernel is `unknown`, and the reason says so.
fn memory_ends_a_kernel() -> Result<(), Failed> {
    let slow = file(&inputs::nested_loops(8));
    let path = slow.path().to_string_lossy().into_owned();
    let ran = run(&["--memory", "100", "--timeout", "20", &path]);
    let is_told = ran.stdout.contains("unknown") && ran.stdout.contains("[memory-limit]") && ran.code == Some(3);
    if is_told && ran.memory < 300_000_000 { Ok(()) } else { Err(ran.failed("no answer that names the memory")) }
}

/// Ctrl-C: the kernels that are done are shown, and the process ends.
#[cfg(unix)]
fn an_interrupt_shows_what_was_found() -> Result<(), Failed> {
    let (simple, slow) = (file(&inputs::simple()), file(&inputs::chained_products(12)));
    let paths = [simple.path(), slow.path()].map(|path| path.to_string_lossy().into_owned());
    let child = start(&["--jobs", "1", "--block", "32", "--grid", "1", "--format", "json", &paths[0], &paths[1]]);
    let (begin, mut sent) = (Instant::now(), false);
    let ran = wait(child, |child| {
        if !sent && begin.elapsed() > Duration::from_secs(4) {
            sent = true;
            let status = Command::new("kill").args(["-INT", &child.id().to_string()]).status();
            assert!(status.is_ok_and(|status| status.success()));
        }
    });
    let is_shown = ran.stdout.contains("\"simple\"") && ran.stdout.contains("\"verified\"") && ran.code == Some(130);
    if is_shown && ran.time < Duration::from_secs(20) { Ok(()) } else { Err(ran.failed("not what was done so far")) }
}
