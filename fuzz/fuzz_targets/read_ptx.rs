//! Any text as PTX, under the checks that tests/fuzz.rs makes: no panic, no long time, errors at places, and
//! prints that give the same module.

#![no_main]

#[path = "../../tests/reader"]
mod reader {
    #[allow(dead_code)]
    pub mod check;
    pub mod cpu_time;
}

libfuzzer_sys::fuzz_target!(|text: &str| {
    if let Err(fault) = reader::check::check(text) {
        panic!("{fault}");
    }
});
