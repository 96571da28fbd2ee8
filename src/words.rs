//! Words that the program itself has: codes, names of spaces. In data that is read back they are texts again.
//!
//! Input: a text of an entry of the cache. Output: the same text for as long as the program runs. Establishes: equal texts are
//! kept once. Relies on: entries have few different ones. Reference: none.

use serde::{Deserialize, Deserializer};
use std::collections::BTreeSet;
use std::sync::{Mutex, PoisonError};

/// A text of the program. An alias, because serde would borrow a reference from what it reads.
pub(crate) type Word = &'static str;

/// All that were read.
static READ: Mutex<BTreeSet<Word>> = Mutex::new(BTreeSet::new());

fn word(text: String) -> Word {
    let mut read = READ.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(known) = read.get(&*text) {
        return known;
    }
    let word = String::leak(text);
    read.insert(word);
    word
}

/// A word that was written down.
///
/// # Errors
/// There is no text.
pub(crate) fn known<'de, D: Deserializer<'de>>(from: D) -> Result<Word, D::Error> {
    String::deserialize(from).map(word)
}

/// The same where there may be none.
///
/// # Errors
/// There is something else.
pub(crate) fn some_known<'de, D: Deserializer<'de>>(from: D) -> Result<Option<Word>, D::Error> {
    Option::<String>::deserialize(from).map(|text| text.map(word))
}
