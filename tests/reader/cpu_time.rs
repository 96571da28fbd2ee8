//! Time that this thread has computed.

use std::sync::LazyLock;
use std::time::{Duration, Instant};

static START: LazyLock<Instant> = LazyLock::new(Instant::now);

/// Processor time of this thread, so that other programs do not count; elsewhere than on Linux, time.
pub fn cpu_time() -> Duration {
    let statistics = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    match statistics.split(' ').next().and_then(|nanoseconds| nanoseconds.parse().ok()) {
        Some(nanoseconds) => Duration::from_nanos(nanoseconds),
        None => START.elapsed(),
    }
}
