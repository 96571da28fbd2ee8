//! Any bytes as a container, under the checks of tests/containers/reading.rs.

#![no_main]

#[path = "../../tests/containers/reading.rs"]
mod reading;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    // Faults are values; what must not happen panics.
    let _ = reading::read(bytes);
});
