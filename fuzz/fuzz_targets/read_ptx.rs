//! Any text as PTX, under the checks that tests/fuzz.rs makes: no panic, no long time, errors at places, and
//! prints that give the same module.

#![no_main]

#[path = "../../tests/support"]
mod support {
    pub mod cpu_time;
    #[allow(dead_code)]
    pub mod reading;
}

libfuzzer_sys::fuzz_target!(|text: &str| {
    if let Err(fault) = support::reading::check(text) {
        panic!("{fault}");
    }
});
