//! Reading input files.
//!
//! Input: a file or a folder as the user names it. Output: the texts in it with the language they are in, or one
//! diagnostic. Establishes: a text is UTF-8 without NUL bytes and byte order mark, and short enough for spans.

use super::cuda::facts::SourceFact;
use super::launches::KnownLaunch;
use super::{cuda, folder};
use crate::container::choice::{self, Wanted};
use crate::container::target::Target;
use crate::container::triton::TritonLaunch;
use crate::container::{self, Contents, Fault};
use crate::diagnostic::Diagnostic;
use crate::ivl::Dialect;
use crate::report::source::SourceText;
use std::io::Read;
use std::path::Path;

/// Inputs larger than this are refused, in bytes; so is what is unpacked from one.
const LARGEST_INPUT: u64 = 1 << 30;

/// The code of the error that an input has no PTX for the target asked for.
pub(super) const NO_SUCH_TARGET: &str = "no-such-target";

/// The language of an input.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Language {
    /// PTX.
    Ptx,
    /// The intermediate verification language, or plain Boogie.
    Ivl(Dialect),
}

/// A text to look at.
#[derive(Clone, Debug)]
pub struct Input {
    /// Name and text. The name of a module in a binary is `FILE:MODULE`, which can be given as a file, too.
    pub source: SourceText,
    pub(crate) language: Language,
    /// The file or folder that the user named.
    pub(crate) given: String,
    /// What the text was chosen for, if it comes out of a binary.
    pub(crate) target: Option<Target>,
    /// The launch that lies beside it.
    pub(crate) launch: Option<LaunchFile>,
    /// The launches of the host's source that it was compiled from.
    pub(crate) launches: Vec<KnownLaunch>,
    /// What that source states of its kernels.
    pub(crate) facts: Vec<SourceFact>,
}

/// A launch with the file that tells it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct LaunchFile {
    /// Last part of its path.
    pub(crate) name: String,
    pub(crate) launch: TritonLaunch,
}

impl Input {
    /// A text by itself.
    pub fn new(source: SourceText, language: Language) -> Self {
        let given = source.name().to_string();
        Input { source, language, given, target: None, launch: None, launches: Vec::new(), facts: Vec::new() }
    }
}

/// What a file or folder gave.
#[derive(Clone, Debug, Default)]
pub(crate) struct Reading {
    /// The texts in it.
    pub(crate) inputs: Vec<Input>,
    /// What the user should know, one sentence each.
    pub(crate) notes: Vec<String>,
    /// Files of a folder, or members of an archive, that could not be read: the file and the error. The others are in
    /// `inputs`.
    pub(crate) unread: Vec<(String, Diagnostic)>,
}

/// The only text of a file; `-` is standard input.
///
/// # Errors
/// The file cannot be read, or has several.
pub fn read(name: &str) -> Result<Input, Diagnostic> {
    let Reading { mut inputs, unread, .. } = read_all(name, None)?;
    match (inputs.pop(), inputs.len(), unread.into_iter().next()) {
        (_, _, Some((_, diagnostic))) => Err(diagnostic),
        (Some(only), 0, None) => Ok(only),
        (_, others, None) => Err(unreadable(name, &format!("it holds {} modules", others + 1))),
    }
}

/// Reads a file, a module in a file (`FILE:MODULE`) or a folder; `-` is standard input.
///
/// # Errors
/// It cannot be read, is damaged, or has no PTX for the target.
pub(crate) fn read_all(name: &str, target: Option<Target>) -> Result<Reading, Diagnostic> {
    let path = Path::new(name);
    let wanted = target.map_or(Wanted::Highest, Wanted::Target);
    if name == "-" {
        let bytes = limited(std::io::stdin().lock());
        return read_bytes("<stdin>", bytes.map_err(|reason| unreadable("<stdin>", &reason))?, &wanted);
    }
    if path.is_dir() {
        return folder::read(path, name, target);
    }
    if let Some((file, module)) = module_of(name).filter(|_| !path.exists()) {
        let reading = read_bytes(file, read_file(file)?, &Wanted::Module(module.to_string()))?;
        for input in &reading.inputs {
            check_target(input, input.target, target)?;
        }
        return Ok(reading);
    }
    let mut reading = read_bytes(name, read_file(name)?, &wanted)?;
    if let [input] = &mut reading.inputs[..]
        && input.target.is_none()
    {
        input.launch = folder::launch_beside(path)?;
    }
    Ok(reading)
}

/// The launches, and what is stated of kernels, in a file of CUDA source, which is not compiled.
///
/// # Errors
/// It cannot be read.
pub(crate) fn from_source(name: &str) -> Result<(Vec<KnownLaunch>, Vec<SourceFact>), Diagnostic> {
    let text = decode(name, read_file(name)?)?;
    Ok((cuda::launches(name, &text), cuda::facts::facts(name, &text)))
}

/// The file and the module of `FILE:MODULE`; modules of archives have colons in their names, too.
fn module_of(name: &str) -> Option<(&str, &str)> {
    let splits = name.rmatch_indices(':').map(|(at, colon)| (&name[..at], &name[at + colon.len()..]));
    splits.into_iter().find(|(file, _)| Path::new(file).is_file())
}

/// The texts in the bytes of a file.
fn read_bytes(name: &str, bytes: Vec<u8>, wanted: &Wanted) -> Result<Reading, Diagnostic> {
    match (container::open(&bytes).map_err(|fault| damaged(name, &fault))?, wanted) {
        (Some(contents), _) => modules(name, &bytes, &contents, wanted),
        (None, Wanted::Module(module)) => {
            // What a compiler makes of CUDA source is its only module.
            let source = decode(name, bytes)?;
            if kind(name, &source) == Some(Kind::Cuda) && *module == cuda::module_name(name) {
                return cuda::compiled(name, &source, None);
            }
            Err(Diagnostic::unplaced(NO_SUCH_TARGET, format!("`{name}` is no binary, so it has no module {module}")))
        }
        (None, _) => {
            let source = decode(name, bytes)?;
            if kind(name, &source) == Some(Kind::Cuda) {
                let target = if let Wanted::Target(target) = wanted { Some(*target) } else { None };
                return cuda::compiled(name, &source, target);
            }
            let input = text(name, source)?;
            if let (Wanted::Target(target), Language::Ptx) = (wanted, input.language) {
                check_target(&input, Target::of_ptx(input.source.text()), Some(*target))?;
            }
            Ok(Reading { inputs: vec![input], ..Reading::default() })
        }
    }
}

/// One module is for the target that was asked for, if any was.
fn check_target(input: &Input, found: Option<Target>, wanted: Option<Target>) -> Result<(), Diagnostic> {
    let name = input.source.name();
    match (found, wanted) {
        (_, None) => Ok(()),
        (Some(found), Some(wanted)) if found == wanted => Ok(()),
        (Some(found), Some(wanted)) => {
            Err(Diagnostic::unplaced(NO_SUCH_TARGET, format!("`{name}` is PTX for {found}, not for {wanted}")))
        }
        (None, Some(wanted)) => {
            Err(Diagnostic::unplaced(NO_SUCH_TARGET, format!("`{name}` does not say that it is PTX for {wanted}")))
        }
    }
}

/// The modules wanted of a container.
fn modules(name: &str, bytes: &[u8], contents: &Contents, wanted: &Wanted) -> Result<Reading, Diagnostic> {
    let unread = damaged_members(name, contents);
    let choice = match choice::choose(contents, wanted, name) {
        Ok(choice) => choice,
        // What is wanted may be in them.
        Err(_) if !unread.is_empty() => return Ok(Reading { unread, ..Reading::default() }),
        Err(none) => return Err(Diagnostic { notes: none.notes, ..Diagnostic::unplaced(none.code, none.message) }),
    };
    let cost = choice.modules.iter().fold(0u64, |sum, image| sum.saturating_add(image.cost()));
    if cost > LARGEST_INPUT {
        return Err(unreadable(name, "the modules in it have more than 1 GiB"));
    }
    let mut reading = Reading { notes: choice.notes, ..Reading::default() };
    for image in choice.modules {
        let text = contents.text(image, bytes).map_err(|fault| damaged(name, &fault))?;
        let source = SourceText::new(format!("{name}:{}", image.name), text);
        let input = Input::new(source, Language::Ptx);
        reading.inputs.push(Input { given: name.to_string(), target: image.target, ..input });
    }
    if !matches!(wanted, Wanted::Module(_)) {
        reading.unread = unread;
        let texts: Vec<&str> = reading.inputs.iter().map(|input| input.source.text()).collect();
        reading.notes.extend(choice::hidden(contents, name, bytes, &texts));
    }
    Ok(reading)
}

/// The damaged members of an archive as what could not be read.
fn damaged_members(name: &str, contents: &Contents) -> Vec<(String, Diagnostic)> {
    contents.faults.iter().map(|fault| (name.to_string(), damaged(name, fault))).collect()
}

/// What `--list` prints for a file or folder: a line for each image; a text is its own image. Beside it the files of
/// the folder, or the members of the archive, that could not be read.
///
/// # Errors
/// As for [`read_all`].
pub(crate) fn list(name: &str) -> Result<(String, Vec<(String, Diagnostic)>), Diagnostic> {
    if Path::new(name).is_dir() {
        let Reading { inputs, unread, .. } = read_all(name, None)?;
        return Ok((inputs.iter().map(|input| format!("{}\n", input.source.name())).collect(), unread));
    }
    let (name, bytes) = match name {
        "-" => ("<stdin>", limited(std::io::stdin().lock()).map_err(|reason| unreadable("<stdin>", &reason))?),
        _ => (name, read_file(name)?),
    };
    let Some(contents) = container::open(&bytes).map_err(|fault| damaged(name, &fault))? else {
        let source = decode(name, bytes)?;
        let is_cuda = kind(name, &source) == Some(Kind::Cuda);
        let line = if is_cuda { format!("{name}: CUDA source\n") } else { format!("{name}\n") };
        return Ok((line, Vec::new()));
    };
    let images = contents.units.iter().flat_map(|unit| &unit.images);
    let line = |image: &container::Image| {
        let module = if image.kind.is_ptx() { format!(":{}", image.name) } else { String::new() };
        let target = image.target.map_or(String::new(), |target| format!(" for {target}"));
        format!("{name}{module}: {}{target}, {} bytes\n", image.kind.name(), image.bytes())
    };
    Ok((images.map(line).collect(), damaged_members(name, &contents)))
}

/// A text as an input.
fn text(name: &str, text: String) -> Result<Input, Diagnostic> {
    match kind(name, &text) {
        Some(Kind::Text(language)) => Ok(Input::new(SourceText::new(name, text), language)),
        Some(Kind::Cuda) | None => {
            let what =
                "neither PTX (`.version ...`), nor CUDA source (`__global__`), nor a program in Boogie or the IVL";
            let unknown = Diagnostic::unplaced("unknown-kind", format!("`{name}` is {what}"));
            Err(unknown.note("a file that ends in .ptx, .cu, .ivl or .bpl is taken for what it is called"))
        }
    }
}

/// The bytes of a text file.
fn decode(name: &str, mut bytes: Vec<u8>) -> Result<String, Diagnostic> {
    // Programs that save what a compiler library gave often save its final NUL byte, too.
    if bytes.last() == Some(&0) && bytes.iter().filter(|byte| **byte == 0).count() == 1 {
        bytes.pop();
    }
    if bytes.starts_with(container::THIN_MAGIC) {
        return Err(unreadable(name, "a thin archive, which names files instead of holding them; give those files"));
    }
    if bytes.contains(&0) {
        return Err(unreadable(name, "a binary file, but neither a program, object, archive, cubin nor fat binary"));
    }
    let text = String::from_utf8(bytes).map_err(|error| {
        let at = error.utf8_error().valid_up_to();
        unreadable(name, &format!("not UTF-8 text (from byte {at} on)"))
    })?;
    Ok(text.strip_prefix('\u{feff}').map(str::to_string).unwrap_or(text))
}

pub(super) fn read_file(name: &str) -> Result<Vec<u8>, Diagnostic> {
    let file = std::fs::File::open(name).map_err(|error| unreadable(name, &error_text(&error)))?;
    limited(file).map_err(|reason| unreadable(name, &reason))
}

/// Reads one byte more than allowed, so that endless devices end too.
fn limited(reader: impl Read) -> Result<Vec<u8>, String> {
    let mut bytes = Vec::new();
    reader.take(LARGEST_INPUT + 1).read_to_end(&mut bytes).map_err(|error| error_text(&error))?;
    if bytes.len() as u64 > LARGEST_INPUT {
        return Err("larger than 1 GiB".to_string());
    }
    Ok(bytes)
}

/// The system's message without its "(os error N)".
pub(super) fn error_text(error: &std::io::Error) -> String {
    let text = error.to_string();
    match text.split_once(" (os error") {
        Some((message, _)) => message.to_lowercase(),
        None => text,
    }
}

pub(super) fn unreadable(name: &str, reason: &str) -> Diagnostic {
    Diagnostic::unplaced("input-unreadable", format!("cannot read `{name}`: {reason}"))
}

fn damaged(name: &str, fault: &Fault) -> Diagnostic {
    let Fault { offset, message } = fault;
    Diagnostic::unplaced("container-damaged", format!("`{name}`, byte {offset}: {message}"))
}

/// What a text is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Text(Language),
    /// CUDA C++, which a compiler turns into PTX.
    Cuda,
}

/// Words with which declarations of the IVL begin.
const IVL_WORDS: [&str; 10] =
    ["procedure", "implementation", "function", "axiom", "type", "const", "var", "shared", "global", "datatype"];

/// By the extension; otherwise PTX is what starts with a directive (`.version`), CUDA source what has a kernel, and IVL
/// what starts as its declarations do. `None`: none of them.
fn kind(name: &str, text: &str) -> Option<Kind> {
    let extension = Path::new(name).extension().and_then(|extension| extension.to_str());
    let code = first_code(text);
    let word = code.split(|c: char| !c.is_ascii_alphanumeric() && c != '_').next().unwrap_or_default();
    match extension.map(str::to_ascii_lowercase).as_deref() {
        Some("ptx") => Some(Kind::Text(Language::Ptx)),
        Some("ivl") => Some(Kind::Text(Language::Ivl(Dialect::Ivl))),
        Some("bpl") => Some(Kind::Text(Language::Ivl(Dialect::Boogie))),
        Some("cu" | "cuh") => Some(Kind::Cuda),
        _ if code.starts_with('.') => Some(Kind::Text(Language::Ptx)),
        // Behind declarations that C++ and the IVL have in common.
        _ if text.contains("__global__") || code.starts_with('#') => text.contains("__global__").then_some(Kind::Cuda),
        _ if IVL_WORDS.contains(&word) => Some(Kind::Text(Language::Ivl(Dialect::Ivl))),
        _ => None,
    }
}

/// The text from its first character that is neither space nor comment.
fn first_code(text: &str) -> &str {
    let mut rest = text.trim_start();
    loop {
        let after = if rest.starts_with("//") {
            rest.find('\n').map(|at| &rest[at..])
        } else if rest.starts_with("/*") {
            rest.find("*/").map(|at| &rest[at + 2..])
        } else {
            return rest;
        };
        rest = after.unwrap_or("").trim_start();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_kind_follows_the_extension_then_the_text() {
        let (ptx, ivl) = (Some(Kind::Text(Language::Ptx)), Some(Kind::Text(Language::Ivl(Dialect::Ivl))));
        assert_eq!(kind("k.ptx", "procedure"), ptx);
        assert_eq!(kind("k.bpl", ".version"), Some(Kind::Text(Language::Ivl(Dialect::Boogie))));
        assert_eq!(kind("k.cu", "procedure p();"), Some(Kind::Cuda));
        assert_eq!(kind("K.CUH", ""), Some(Kind::Cuda));
        assert_eq!(kind("<stdin>", "// c\n/* .. */ .version 8.0"), ptx);
        assert_eq!(kind("<stdin>", "// c\nprocedure p();"), ivl);
        assert_eq!(kind("<stdin>", "shared s: bv32;"), ivl);
        assert_eq!(kind("k.txt", "const int n = 4;\n__global__ void k() {}"), Some(Kind::Cuda));
        for text in ["/* open", "", "int main() {}", "#include <cuda.h>", "%PDF-1.4"] {
            assert_eq!(kind("k.txt", text), None, "{text}");
        }
    }
}
