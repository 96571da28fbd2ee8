//! No verdict depends on the clock: a process that is stopped for seconds says the same but for times. (`tests/jobs.rs`: with any
//! number of jobs.)

use super::{run, start, wait};
use libtest_mimic::Failed;
use serde_json::Value;
use std::process::{Child, Command};
use std::time::{Duration, Instant};

/// Kernels whose launches are free, so that much is tried: one that is verified under conditions that are found, and one
/// with a defect.
const KERNELS: [&str; 2] = ["tests/kernels/scan_double_buffer.ptx", "tests/kernels/matvec_broken.ptx"];

/// When the process is stopped, counted from its start or from when it went on, and for how long.
const STOPS: [(Duration, Duration); 3] = [
    (Duration::from_millis(150), Duration::from_secs(9)),
    (Duration::from_millis(200), Duration::from_secs(2)),
    (Duration::from_millis(300), Duration::from_secs(1)),
];

fn options(kernel: &'static str) -> [&'static str; 5] {
    [kernel, "--format=json", "--timeout=600", "--jobs", "2"]
}

/// A process that is stopped and goes on.
pub fn stopped_and_continued() -> Result<(), Failed> {
    for kernel in KERNELS {
        let expected = without_times(&run(&options(kernel)).stdout)?;
        let (mut stops, mut since) = (STOPS.iter().peekable(), Instant::now());
        let ran = wait(start(&options(kernel)), |child| {
            if let Some((_, long)) = stops.next_if(|(after, _)| since.elapsed() >= *after) {
                signal(child, "STOP");
                std::thread::sleep(*long);
                signal(child, "CONT");
                since = Instant::now();
            }
        });
        if stops.len() == STOPS.len() {
            return Err(ran.failed("it ended before it was stopped"));
        }
        if without_times(&ran.stdout)? != expected {
            return Err(ran.failed(&format!("{kernel}: stopped, it does not say what it says else: {expected}")));
        }
    }
    Ok(())
}

/// A report without what depends on the clock: its times.
fn without_times(json: &str) -> Result<Value, Failed> {
    fn strip(value: &mut Value) {
        match value {
            Value::Object(members) => {
                members.remove("time_ms");
                members.values_mut().for_each(strip);
            }
            Value::Array(values) => values.iter_mut().for_each(strip),
            _ => {}
        }
    }
    let mut report: Value = serde_json::from_str(json).map_err(|error| format!("{error}: {json}"))?;
    strip(&mut report);
    Ok(report)
}

fn signal(child: &Child, name: &str) {
    let status = Command::new("kill").args([&format!("-{name}"), &child.id().to_string()]).status();
    assert!(status.is_ok_and(|status| status.success()), "no signal {name}");
}
