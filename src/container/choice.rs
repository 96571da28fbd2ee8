//! Which modules of a file are looked at.
//!
//! Input: [`Contents`] and what was asked for. Output: [`Choice`]. Establishes: at least one module; of each unit,
//! those of one target. What has PTX and is left out is told in a note, unless it was asked for.

use super::target::{Target, listing};
use super::{Contents, Image, LARGEST_IMAGE, Unit};
use std::collections::BTreeSet;

/// What is asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Wanted {
    /// The highest target of each unit.
    Highest,
    /// That target.
    Target(Target),
    /// The module of that name.
    Module(String),
}

/// Modules to look at.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Choice<'a> {
    /// At least one, in the order of the file.
    pub modules: Vec<&'a Image>,
    /// What the user should know about what is left out, one sentence each.
    pub(crate) notes: Vec<String>,
}

/// Why nothing is chosen: the code of the message, the message, and further lines.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NoChoice {
    /// `no-ptx` or `no-such-target`.
    pub(crate) code: &'static str,
    /// One sentence, lower case, no full stop.
    pub(crate) message: String,
    /// What is there, what to do.
    pub(crate) notes: Vec<String>,
}

/// Picks modules of a file, whose name the messages show.
///
/// # Errors
/// The file has no PTX, or not what is wanted.
pub fn choose<'a>(contents: &'a Contents, wanted: &Wanted, file: &str) -> Result<Choice<'a>, NoChoice> {
    let all: Vec<&Image> = contents.modules().collect();
    if all.is_empty() {
        return Err(no_ptx(contents, file));
    }
    match wanted {
        Wanted::Module(name) => match all.iter().find(|image| image.name == *name) {
            Some(image) => Ok(Choice { modules: vec![image], notes: Vec::new() }),
            None => Err(no_such(format!("`{file}` has no module {name}"), &all)),
        },
        Wanted::Target(target) => {
            let modules: Vec<&Image> = all.iter().filter(|image| image.target == Some(*target)).copied().collect();
            if modules.is_empty() {
                return Err(no_such(format!("`{file}` has no PTX for {target}"), &all));
            }
            let mut notes = Vec::new();
            let lacks = |unit: &&Unit| {
                modules_of(unit).next().is_some() && !modules_of(unit).any(|i| i.target == Some(*target))
            };
            let lacking: Vec<&str> =
                contents.units.iter().filter(lacks).flat_map(modules_of).map(|i| &*i.name).collect();
            if !lacking.is_empty() {
                notes.push(format!("not for {target}, so not looked at: {}", some_of(&lacking)));
            }
            Ok(Choice { modules, notes })
        }
        Wanted::Highest => {
            let modules: Vec<&Image> = contents.units.iter().flat_map(highest).collect();
            let mut notes = Vec::new();
            if modules.len() < all.len() {
                let (there, taken) = (targets(&all), targets(&modules));
                notes.push(format!("`{file}` has PTX for {there}; {taken} is looked at (--target takes another)"));
            }
            Ok(Choice { modules, notes })
        }
    }
}

fn modules_of(unit: &Unit) -> impl Iterator<Item = &Image> {
    unit.images.iter().filter(|image| image.kind.is_ptx())
}

/// The modules of a unit for its highest target.
fn highest(unit: &Unit) -> impl Iterator<Item = &Image> {
    let highest = modules_of(unit).map(|image| image.target).max();
    modules_of(unit).filter(move |image| Some(image.target) == highest)
}

/// A note about functions of which there is machine code only. `texts`: the modules chosen.
pub fn hidden(contents: &Contents, file: &str, bytes: &[u8], texts: &[&str]) -> Option<String> {
    let mut without = contents.units.iter().filter(|unit| modules_of(unit).next().is_none()).peekable();
    without.peek()?;
    let known = functions(texts);
    let mut budget = LARGEST_IMAGE;
    let hidden: Vec<&Unit> =
        without.filter(|unit| contents.hides_functions(unit, bytes, &known, &mut budget)).collect();
    if hidden.is_empty() {
        return None;
    }
    let places: Vec<&str> = hidden.iter().flat_map(|unit| unit.images.iter().filter_map(|i| place(unit, i))).collect();
    let places = if places.is_empty() { String::new() } else { format!(" ({})", some_of(&places)) };
    let units = if hidden.len() == 1 { "1 unit has".to_string() } else { format!("{} units have", hidden.len()) };
    Some(format!("`{file}`: {units} no PTX, only code that is not looked at{places}"))
}

/// The member of an archive, or the source file, that an image is from.
fn place<'a>(unit: &'a Unit, image: &'a Image) -> Option<&'a str> {
    let ident = Some(image.ident.trim()).filter(|ident| !ident.is_empty());
    unit.member.as_deref().or(ident)
}

/// All words of the lines on which compilers declare functions.
fn functions<'a>(texts: &[&'a str]) -> BTreeSet<&'a str> {
    let is_part = |character: char| character.is_ascii_alphanumeric() || matches!(character, '_' | '$' | '%');
    let lines = texts.iter().flat_map(|text| text.lines());
    let lines = lines.filter(|line| line.contains(".entry") || line.contains(".func"));
    lines.flat_map(|line| line.split(move |character| !is_part(character))).collect()
}

fn targets(images: &[&Image]) -> String {
    listing(images.iter().filter_map(|image| image.target))
}

/// The first of many names.
pub(crate) fn some_of(names: &[&str]) -> String {
    const SHOWN: usize = 8;
    let mut names = names.to_vec();
    names.dedup();
    let more = names.len().saturating_sub(SHOWN);
    names.truncate(SHOWN);
    let shown = names.join(", ");
    if more == 0 { shown } else { format!("{shown} and {more} more") }
}

fn no_such(message: String, all: &[&Image]) -> NoChoice {
    let names: Vec<&str> = all.iter().map(|image| &*image.name).collect();
    NoChoice { code: "no-such-target", message, notes: vec![format!("there are: {}", some_of(&names))] }
}

fn no_ptx(contents: &Contents, file: &str) -> NoChoice {
    let images: Vec<&Image> = contents.units.iter().flat_map(|unit| &unit.images).collect();
    let what = contents.what;
    let Some(newest) = images.iter().filter_map(|image| image.target).max() else {
        let holds = if images.is_empty() { "no code for a GPU" } else { "no PTX" };
        let message = format!("`{file}` is {what} with {holds}");
        return NoChoice { code: "no-ptx", message, notes: vec![how_to_keep("90")] };
    };
    let mut kinds: Vec<&str> = images.iter().map(|image| image.kind.name()).collect();
    kinds.sort_unstable();
    kinds.dedup();
    let (kinds, there) = (kinds.join(" and "), targets(&images));
    let message = format!("`{file}` is {what} with {kinds} only (for {there}), no PTX");
    NoChoice { code: "no-ptx", message, notes: vec![how_to_keep(newest.to_string().trim_start_matches("sm_"))] }
}

fn how_to_keep(number: &str) -> String {
    format!("nvcc keeps PTX with `-gencode arch=compute_{number},code=compute_{number}`, or writes it with `-ptx`")
}
