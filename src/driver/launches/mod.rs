//! Launches that are known from outside of the PTX: the host's source, a file of launches, a project file.
//!
//! Output: [`KnownLaunch`]es; for a kernel, those that are about it, each once; the options of a run with one of them.
//! Establishes: a report about a known launch speaks of that launch only, and names where it is from.
//! Relies on: nothing. Reference: CUDA C++ Programming Guide, "Execution Configuration".

mod aliases;
mod fields;
mod lines;
mod names;
mod project;

use super::annotations::Parsed;
use super::baseline::KnownFinding;
use super::input::{Input, error_text, unreadable};
use super::options::Options;
use super::output::Output;
use super::pipeline::Program;
use super::values::ParameterSetting;
pub(crate) use crate::container::triton::LARGEST_SHARED;
use crate::diagnostic::Diagnostic;
use crate::finding::Launched;
use crate::geometry::Geometry;
use crate::ptx::ast::Function;
use crate::ptx::mangled;
use crate::report::source::SourceText;
use aliases::KnownAlias;
use project::Project;

/// A launch of a kernel, as far as it is known.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct KnownLaunch {
    /// The kernel: its name in the PTX, or the one that its author gave it.
    pub(crate) kernel: String,
    /// Whether that is a pattern of names.
    pub(crate) is_pattern: bool,
    pub(crate) geometry: Geometry,
    /// Blocks of a cluster.
    pub(crate) cluster: [u32; 3],
    /// Bytes of dynamic shared memory, if known.
    pub(crate) dynamic_shared: Option<u32>,
    /// Integer scalars, by name or position.
    pub(crate) params: Vec<ParameterSetting>,
    /// The same of what may be pointers.
    pub(crate) words: Vec<ParameterSetting>,
    /// The number of arguments, if known: a kernel with another number is another kernel.
    pub(crate) arguments: Option<usize>,
    /// Pointers that refer to the same memory.
    pub(crate) aliases: Vec<KnownAlias>,
    /// `kernel.cu:12`.
    pub(crate) origin: String,
}

impl KnownLaunch {
    /// A launch of which nothing is known but that it is there.
    pub(crate) fn new(kernel: impl Into<String>, origin: String) -> Self {
        KnownLaunch {
            kernel: kernel.into(),
            is_pattern: false,
            geometry: Geometry::FREE,
            cluster: [1; 3],
            dynamic_shared: None,
            params: Vec::new(),
            words: Vec::new(),
            arguments: None,
            aliases: Vec::new(),
            origin,
        }
    }

    /// Whether it is about a kernel.
    pub(crate) fn is_for(&self, program: &Program, entry: &str) -> bool {
        let Some(function) = entry_of(program, entry) else { return self.kernel == entry };
        let is_named = if self.is_pattern { names::matches } else { mangled::is_called };
        is_named(entry, &self.kernel) && self.arguments.is_none_or(|count| count == function.params.len())
    }

    /// Whether a value can be fixed: that of a floating-point number or of a structure is of no use to a proof. A pointer
    /// is told apart where parameters are fixed. What the host's source passes is converted to the type of the parameter:
    /// a constant of it is that of an `int`, or counts something.
    fn can_fix(&self, function: Option<&Function>, index: Option<usize>, value: i128) -> bool {
        let Some(parameter) = function.zip(index).and_then(|(function, index)| function.params.get(index)) else {
            return true;
        };
        let bytes = parameter.ty.bytes();
        let is_scalar = parameter.size == Some(u64::from(bytes)) && !parameter.ty.is_float();
        is_scalar && (self.arguments.is_none() || bytes == 4 || bytes == 8 && value > 0)
    }

    /// Whether another one asks the same, wherever it is from.
    fn is_same(&self, other: &KnownLaunch) -> bool {
        let asked =
            |launch: &KnownLaunch| KnownLaunch { origin: String::new(), kernel: String::new(), ..launch.clone() };
        asked(self) == asked(other)
    }
}

/// All launches that are known from files other than the inputs.
#[derive(Debug, Default)]
pub(crate) struct Known {
    /// Those of `--launches`.
    lines: Vec<KnownLaunch>,
    /// Project files, each with the inputs that it is about.
    projects: Vec<(Vec<String>, Project)>,
}

/// Reads the files of launches that the options name, and those of the project; `None`: errors were told.
pub(crate) fn load(options: &Options, output: &mut Output) -> Option<Known> {
    let mut known = Known::default();
    if let Some(file) = &options.launches {
        known.lines = read(file, output, |text| lines::read(file, text, options.max_threads))?;
    }
    for input in &options.files {
        let path = options.project.clone().or_else(|| Some(project::of_input(input)?.to_string_lossy().into_owned()));
        let Some(path) = path else { continue };
        if let Some((inputs, _)) = known.projects.iter_mut().find(|(_, project)| project.source.name() == path) {
            inputs.push(input.clone());
            continue;
        }
        let project = read(&path, output, |text| project::read(&path, text, options.max_threads))?;
        known.projects.push((vec![input.clone()], project));
    }
    Some(known)
}

/// Reads a file, and tells what is wrong with it.
fn read<T>(file: &str, output: &mut Output, of: impl FnOnce(&str) -> Result<T, Vec<Diagnostic>>) -> Option<T> {
    let text = match std::fs::read_to_string(file) {
        Ok(text) => text,
        Err(error) => {
            output.unplaced(&unreadable(file, &error_text(&error)), file);
            return None;
        }
    };
    let result = of(&text);
    result.map_err(|errors| output.wrong_input(&errors, &SourceText::new(file, text), None)).ok()
}

impl Known {
    /// Adds what projects require to the kernels. An input about which they are wrong is not looked at.
    pub(crate) fn require<'a>(&self, programs: Vec<Parsed<'a>>, output: &mut Output) -> Vec<Parsed<'a>> {
        let mut right = Vec::new();
        for mut parsed in programs {
            let errors =
                self.project_of(&parsed.input.given).map(|project| (project, project.require(&mut parsed.program)));
            match errors {
                Some((project, Err(errors))) => output.wrong_input(&errors, &project.source, None),
                _ => right.push(parsed),
            }
        }
        right
    }

    /// The findings of a kernel that its project knows of.
    pub(crate) fn findings_of(&self, input: &Input, entry: &str) -> Vec<&KnownFinding> {
        let known = self.project_of(&input.given).map_or(&[][..], |project| &project.known);
        known.iter().filter(|(pattern, _)| names::matches(entry, pattern)).map(|(_, known)| known).collect()
    }

    fn project_of(&self, input: &str) -> Option<&Project> {
        // A module is given as FILE:MODULE.
        let is_of =
            |given: &String| given.strip_prefix(input).is_some_and(|rest| rest.is_empty() || rest.starts_with(':'));
        let about = |(inputs, _): &&(Vec<String>, Project)| inputs.iter().any(is_of);
        self.projects.iter().find(about).map(|(_, project)| project)
    }

    /// The launches of a kernel: those of `--launches`, else of the project, else of the host's source.
    pub(crate) fn of_kernel<'l>(&'l self, input: &'l Input, program: &Program, entry: &str) -> Vec<&'l KnownLaunch> {
        let project = self.project_of(&input.given).map_or(&[][..], |project| &project.launches);
        let sources = [&self.lines[..], project, &input.launches[..]].into_iter();
        let mut found = sources.map(|launches| of_kernel(launches, program, entry));
        found.find(|launches| !launches.is_empty()).unwrap_or_default()
    }

    /// Tells which lines of `--launches` are about no kernel; if all are, that is an error.
    pub(crate) fn tell_unused(&self, options: &Options, kernels: &[(&Program, String)], output: &mut Output) {
        let is_used = |launch: &&KnownLaunch| kernels.iter().any(|(program, name)| launch.is_for(program, name));
        let unused: Vec<&KnownLaunch> = self.lines.iter().filter(|launch| !is_used(launch)).collect();
        let Some(first) = unused.first() else { return };
        let message = format!("no kernel of the input is called `{}`, which {} launches", first.kernel, first.origin);
        if unused.len() < self.lines.len() {
            return output.note(&message);
        }
        let names: Vec<&str> = kernels.iter().take(5).map(|(_, name)| name.as_str()).collect();
        let none = Diagnostic::unplaced("launches", message).note(format!("there are: {}", names.join(", ")));
        output.unplaced(&none, options.launches.as_deref().unwrap_or_default());
    }
}

/// The launches of a kernel, equal ones once; the first that asks something names it.
fn of_kernel<'l>(launches: &'l [KnownLaunch], program: &Program, entry: &str) -> Vec<&'l KnownLaunch> {
    let mut different: Vec<&KnownLaunch> = Vec::new();
    for launch in launches.iter().filter(|launch| launch.is_for(program, entry)) {
        if !different.iter().any(|earlier| earlier.is_same(launch)) {
            different.push(launch);
        }
    }
    different
}

/// The options with a launch, and sentences about it. What the command line says of a parameter stands.
pub(crate) fn with(options: &Options, launch: &KnownLaunch, program: &Program, entry: &str) -> (Options, Vec<String>) {
    let mut options = Options { geometry: launch.geometry, ..options.clone() };
    options.dynamic_shared = launch.dynamic_shared.or(options.dynamic_shared);
    let function = entry_of(program, entry);
    let given: Vec<Option<usize>> = options.params.iter().map(|setting| position(function, &setting.name)).collect();
    let can_fix = |setting: &&ParameterSetting| {
        let index = position(function, &setting.name);
        // An unknown name is an error, told where parameters are fixed.
        index.is_none() || !given.contains(&index) && launch.can_fix(function, index, setting.value)
    };
    let known: Vec<ParameterSetting> = launch.params.iter().filter(can_fix).cloned().collect();
    let words: Vec<ParameterSetting> = launch.words.iter().filter(can_fix).cloned().collect();
    let mut told = vec![format!("the launch is that of {}; no other was looked at", launch.origin)];
    let named = |setting: &ParameterSetting| shown_parameter(function, &setting.name);
    told.extend(
        known.iter().chain(&words).map(|setting| format!("`{}` is {} in that launch", named(setting), setting.value)),
    );
    options.cluster = options.cluster.or(Some(launch.cluster));
    if let [x, y, z] = launch.cluster
        && launch.cluster != [1; 3]
    {
        told.push(format!("clusters have {x},{y},{z} blocks in that launch"));
    }
    aliases::tell(&mut options, launch, function, &mut told);
    (options.known_params, options.known_words) = (known, words);
    (options, told)
}

/// The function of a kernel in PTX.
fn entry_of<'p>(program: &'p Program, entry: &str) -> Option<&'p Function> {
    let Program::Ptx(module) = program else { return None };
    module.functions.iter().find(|function| function.is_entry && *function.name == *entry)
}

/// The position of a parameter that is named by name or position.
fn position(function: Option<&Function>, name: &str) -> Option<usize> {
    let params = &function?.params;
    let named = params.iter().position(|parameter| *parameter.name == *name);
    named.or_else(|| name.parse().ok().filter(|index| *index < params.len()))
}

/// A parameter as reports show it: without the name of the kernel, which compilers put in front.
fn shown_parameter(function: Option<&Function>, name: &str) -> String {
    let parameter = position(function, name).zip(function).map(|(index, function)| &function.params[index]);
    let full = parameter.map_or(name, |parameter| &parameter.name);
    let kernel = function.map_or("", |function| &function.name);
    full.strip_prefix(kernel).and_then(|rest| rest.strip_prefix('_')).unwrap_or(full).to_string()
}

/// What a report says about where its launch is from.
pub(crate) fn in_report(launch: &KnownLaunch, options: &Options, program: &Program, entry: &str) -> Launched {
    let function = entry_of(program, entry);
    let known = options.known_params.iter().chain(&options.known_words);
    let params = known.map(|setting| (shown_parameter(function, &setting.name), setting.value));
    Launched { from: launch.origin.clone(), params: params.collect() }
}
