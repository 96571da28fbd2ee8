//! Annotations that stand in a file of their own.
//!
//! Input: the parsed inputs. Output: the same with the annotations of `--annotations FILE`, or of the file `k.ptx.gpuvcc`
//! that lies beside `k.ptx`, and a sentence for the report. Establishes: an input whose annotations have errors is not
//! looked at: without them the answer would be to another question.

use super::input::{Input, Language, error_text, unreadable};
use super::options::Options;
use super::output::Output;
use super::pipeline::Program;
use crate::diagnostic::Diagnostic;
use crate::ptx::annotation::sidecar;
use crate::report::source::SourceText;
use std::path::Path;

/// What is added to the name of an input.
const EXTENSION: &str = "gpuvcc";

/// A parsed input.
pub(crate) struct Parsed<'a> {
    pub(crate) input: &'a Input,
    /// What it says.
    pub(crate) program: Program,
    /// What the report says of annotations from another file.
    pub(crate) annotated: Option<String>,
}

/// Adds the annotations of other files.
pub(crate) fn add<'a>(programs: Vec<(&'a Input, Program)>, options: &Options, output: &mut Output) -> Vec<Parsed<'a>> {
    let ptx = programs.iter().filter(|(input, _)| input.language == Language::Ptx).count();
    if options.annotations.is_some() && ptx != 1 {
        let message = format!("--annotations is for one input of PTX, not for {ptx}");
        output.unplaced(&Diagnostic::unplaced("annotation", message), &options.files.join(" "));
        return Vec::new();
    }
    let parsed = programs.into_iter().filter_map(|(input, mut program)| {
        let Program::Ptx(module) = &mut program else { return Some(Parsed { input, program, annotated: None }) };
        let file = match &options.annotations {
            Some(file) => file.clone(),
            None => match beside(input) {
                Some(file) => file,
                None => return Some(Parsed { input, program, annotated: None }),
            },
        };
        let text = match std::fs::read_to_string(&file) {
            Ok(text) => text,
            Err(error) => {
                output.unplaced(&unreadable(&file, &error_text(&error)), &file);
                return None;
            }
        };
        match sidecar::apply(&file, &text, module) {
            Ok(count) => {
                let annotated = Some(format!("the PTX has the annotations of `{file}`, of which there are {count}"));
                Some(Parsed { input, program, annotated })
            }
            Err(diagnostics) => {
                output.wrong_input(&diagnostics, &SourceText::new(file, text), None);
                None
            }
        }
    });
    parsed.collect()
}

/// The file of annotations beside an input.
fn beside(input: &Input) -> Option<String> {
    let file = format!("{}.{EXTENSION}", input.source.name());
    Path::new(&file).is_file().then_some(file)
}
