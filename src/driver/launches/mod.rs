//! Launches that are known from outside of the PTX: the host's source, a file of launches, a project file.
//!
//! Output: [`KnownLaunch`]es; for a kernel, those that are about it, each once; the options of a run with one of them.
//! Establishes: a report about a known launch speaks of that launch only, and names where it is from.
//! Relies on: nothing. Reference: CUDA C++ Programming Guide, "Execution Configuration".

pub(crate) mod names;

use super::cli::{Options, ParameterSetting};
use super::pipeline::Program;
use crate::finding::Launched;
use crate::geometry::Geometry;
use crate::ptx::ast::Function;

/// Dynamic shared memory at most, in bytes; no GPU has that much.
pub(crate) const LARGEST_SHARED: u32 = 1 << 20;

/// A launch of a kernel, as far as it is known.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct KnownLaunch {
    /// The kernel: its name in the PTX, or the one that its author gave it.
    pub(crate) kernel: String,
    pub(crate) geometry: Geometry,
    /// Blocks of a cluster.
    pub(crate) cluster: [u32; 3],
    /// Bytes of dynamic shared memory, if known.
    pub(crate) dynamic_shared: Option<u32>,
    /// Integer scalars, by name or position.
    pub(crate) params: Vec<ParameterSetting>,
    /// The number of arguments, if known: a kernel with another number is another kernel.
    pub(crate) arguments: Option<usize>,
    /// Pointers that refer to the same memory.
    pub(crate) aliases: Vec<[String; 2]>,
    /// `kernel.cu:12`.
    pub(crate) origin: String,
}

impl KnownLaunch {
    /// A launch of which nothing is known but that it is there.
    pub(crate) fn new(kernel: impl Into<String>, origin: String) -> Self {
        KnownLaunch {
            kernel: kernel.into(),
            geometry: Geometry::FREE,
            cluster: [1; 3],
            dynamic_shared: None,
            params: Vec::new(),
            arguments: None,
            aliases: Vec::new(),
            origin,
        }
    }

    /// Whether it is about a kernel.
    pub(crate) fn is_for(&self, program: &Program, entry: &str) -> bool {
        let Some(function) = entry_of(program, entry) else { return self.kernel == entry };
        names::is_called(entry, &self.kernel) && self.arguments.is_none_or(|count| count == function.params.len())
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

/// The launches of a kernel, equal ones once; the first that asks something names it.
pub(crate) fn of_kernel<'l>(launches: &'l [KnownLaunch], program: &Program, entry: &str) -> Vec<&'l KnownLaunch> {
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
    let params = launch.params.iter().filter(|setting| {
        let index = position(function, &setting.name);
        // An unknown name is an error, told where parameters are fixed.
        index.is_none() || !given.contains(&index) && launch.can_fix(function, index, setting.value)
    });
    let known: Vec<ParameterSetting> = params.cloned().collect();
    let mut told = vec![format!("the launch is that of {}, and no other", launch.origin)];
    let named = |setting: &ParameterSetting| shown_parameter(function, &setting.name);
    told.extend(known.iter().map(|setting| format!("`{}` is {} in that launch", named(setting), setting.value)));
    if let [x, y, z] = launch.cluster
        && launch.cluster != [1; 3]
    {
        told.push(format!("the clusters of {x},{y},{z} blocks of {} are not used", launch.origin));
    }
    if !launch.aliases.is_empty() {
        // No stage knows of pairs; all pointers is more than was said, so nothing wrong is proved.
        options.rules.may_alias = true;
        let pairs: Vec<String> = launch.aliases.iter().map(|[one, other]| format!("`{one}` and `{other}`")).collect();
        told.push(format!("any pointers may alias, since {} do in that launch", pairs.join(", ")));
    }
    options.known_params = known;
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
    let params = options.known_params.iter().map(|setting| (shown_parameter(function, &setting.name), setting.value));
    Launched { from: launch.origin.clone(), params: params.collect() }
}
