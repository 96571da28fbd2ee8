//! A prelude that breaks the contract is refused, and the message names what is wrong.

use gpuvcc::twothread::prelude::{WATCHED_BYTE, load};

fn messages(text: &str) -> Vec<String> {
    let errors = load(text).err().unwrap_or_default();
    errors.into_iter().map(|error| format!("{}: {}", error.code, error.message)).collect()
}

#[track_caller]
fn refused(text: &str, expected: &str) {
    let found = messages(text);
    assert!(found.iter().any(|message| message.contains(expected)), "{expected}: {found:#?}");
}

#[test]
fn missing_names() {
    assert_eq!(messages(WATCHED_BYTE), Vec::<String>::new());
    refused("const c: bool;", "prelude-contract: the constant `_TRACKED_SITE: bv16` is missing");
    refused("const c: bool;", "the constant or variable `_WATCHED_OFFSET_$ARRAY: bv64` is missing");
    refused("const c: bool;", "the variable `_STRONG_WRITE_HAS_OCCURRED_$ARRAY: bool` is missing");
    refused("const c: bool;", "the procedure `CHECK_STRONG_READ_$ARRAY` is missing");
}

#[test]
fn wrong_shapes() {
    let with = |more: &str| format!("{WATCHED_BYTE}\n{more}");
    refused(
        &WATCHED_BYTE
            .replace("CHECK_READ_$ARRAY(active: bool, offset: bv64, width: bv64)", "CHECK_READ_$ARRAY(active: bool)"),
        "",
    );
    refused(
        &WATCHED_BYTE.replace("BARRIER_CLEAR_$ARRAY(both: bool)", "BARRIER_CLEAR_$ARRAY(both: bool, more: bool)"),
        "`BARRIER_CLEAR_$ARRAY` does not have the parameters and results of the contract",
    );
    refused(&with("procedure {:inline 1} P() { if (*) { } }"), "`P` branches");
    refused(&with("procedure P() { }"), "`P` lacks the attribute `{:inline 1}`");
    refused(&with("procedure {:inline 1} P();"), "`P` has no body");
    refused(
        &with("procedure {:inline 1} P() { assert _READ_HAS_OCCURRED_$ARRAY; }"),
        "`P` uses a `$ARRAY` name but is no template",
    );
    refused(&with("shared S: []bv8;"), "a prelude declares no shared arrays");
}
