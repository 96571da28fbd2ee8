//! What is asked for, as plain data.
//!
//! Input: none; the command line ([`super::cli`]) or a caller of the library fills it in. Output: [`Options`]. Establishes:
//! the defaults of the command line. Reference: DESIGN section 4 (the fixed command line).

pub use super::shard::ShardOf;
pub use super::values::ParameterSetting;
use crate::aliases::Aliases;
use crate::container::target::Target;
use crate::exec::tensor_argument::TensorArgument;
use crate::finding::FailOn;
use crate::geometry::Geometry;
use crate::rules::Rules;
use crate::twothread::Prelude;
use clap::ValueEnum;
use std::num::NonZeroUsize;
use std::sync::Arc;
use std::time::Duration;

/// How often the body of a loop is copied, where nobody says.
pub(super) const UNROLL: NonZeroUsize = NonZeroUsize::new(3).unwrap();

/// Options of a verification, as plain data.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Options {
    /// Input files as given; `-` is standard input.
    pub files: Vec<String>,
    /// Only PTX for this architecture; when `None` any, of a binary the highest.
    pub target: Option<Target>,
    /// Print what the files hold instead of verifying.
    pub list: bool,
    /// Only these kernels; all when empty.
    pub entries: Vec<String>,
    /// Sizes of launches; a free block may have its sizes from `.reqntid`.
    pub geometry: Geometry,
    /// Blocks of a cluster on each axis, if somebody says.
    pub cluster: Option<[u32; 3]>,
    /// Tensor maps, by name or position of their parameters.
    pub tensors: Vec<(String, TensorArgument)>,
    /// Whether the block was asked for, even as free: it then wins over a launch file.
    pub block_is_given: bool,
    /// The same of the grid.
    pub grid_is_given: bool,
    /// Bytes of dynamic shared memory with which findings are confirmed, from a launch file; chosen when `None`.
    pub dynamic_shared: Option<u32>,
    /// Launches have fewer threads than this.
    pub max_threads: u64,
    /// Fixed scalar parameters.
    pub params: Vec<ParameterSetting>,
    /// Those of the launch that is looked at, if it is known from a file.
    pub known_params: Vec<ParameterSetting>,
    /// Those that are pointers, or numbers: of a parameter that is a pointer the value is not used.
    pub known_words: Vec<ParameterSetting>,
    /// The pointers that point into one array in that launch.
    pub known_aliases: Aliases,
    /// File of launches.
    pub launches: Option<String>,
    /// Project file; the one beside or above the input when `None`.
    pub project: Option<String>,
    /// File of annotations; the one beside the input when `None`.
    pub annotations: Option<String>,
    /// File of findings that are known.
    pub baseline: Option<String>,
    /// Where the findings of this run are written.
    pub write_baseline: Option<String>,
    /// Verdicts that fail the run; when `None` confirmed defects give 1, other kernels that are not verified 3.
    pub fail_on: Option<FailOn>,
    /// Folder of answers that are kept; none when `None`.
    pub cache: Option<String>,
    /// Only the kernels of this part of the run.
    pub shard: Option<ShardOf>,
    /// Print this stage instead of verifying.
    pub emit: Option<Stage>,
    /// Of the invariants of `--emit ivl` only those that the proof uses.
    pub minimal: bool,
    /// Form of the output.
    pub format: Format,
    /// The file that takes the output; standard output when `None`.
    pub output: Option<String>,
    /// The command line, for reports that show it, without what only says where the output goes.
    pub command: String,
    /// Time for a kernel.
    pub timeout: Duration,
    /// Memory for the process, in bytes; `None` is three quarters of the machine's.
    pub memory: Option<u64>,
    /// Threads that verify at the same time: kernels first, then parts of a kernel.
    pub jobs: NonZeroUsize,
    /// Verdict lines only, with the conditions of verified-when.
    pub quiet: bool,
    /// Say which barriers and fences of a verified kernel can go.
    pub redundant: bool,
    /// Say what was inferred of the loops.
    pub invariants: bool,
    /// Say what each stage cost.
    pub stats: bool,
    /// Colours.
    pub color: Color,
    /// What counts as a defect, and what is taken for granted.
    pub rules: Rules,
    /// Procedures may leave out what they modify.
    pub infer_modifies: bool,
    /// Defects with any values of parameters are told alike, also with those that no host is likely to pass.
    pub any_values: bool,
    /// How accesses are remembered.
    pub prelude: PreludeChoice,
    /// Arithmetic of the formulas.
    pub arith: Arithmetic,
    /// What decides.
    pub engine: Engine,
    /// Families of candidate invariants that are not tried.
    pub omit_families: Vec<&'static str>,
    /// The memory model of litmus tests; that of PTX when `None`.
    pub model: Option<String>,
    /// Copies of the body of a loop in a litmus test.
    pub unroll: NonZeroUsize,
}

/// Stages that `--emit` prints.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, ValueEnum)]
pub enum Stage {
    /// Tokens of the input.
    Tokens,
    /// The typed module.
    Ast,
    /// The control-flow graph.
    Cfg,
    /// The sort order of blocks.
    Order,
    /// The one-thread kernel program.
    Kernel,
    /// What of it matters.
    Slice,
    /// The predicated one-thread program.
    Predicated,
    /// The two-thread program before inference.
    Twothread,
    /// The two-thread program with its inferred invariants.
    Ivl,
    /// The same with all of the prelude, also what this program does not use.
    #[value(name = "ivl=full")]
    IvlFull,
    /// Invariant candidates.
    Candidates,
    /// The passive program.
    Passive,
    /// Verification conditions.
    Vc,
    /// The queries as SMT-LIB 2.
    Smt2,
    /// What threads do at barriers and in shared memory, whatever the trip count is.
    Phases,
}

/// `--format`
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// For people.
    #[default]
    Text,
    /// One JSON object.
    Json,
    /// A SARIF 2.1.0 log.
    Sarif,
    /// JUnit's XML: a test case a kernel.
    Junit,
    /// A line a finding, as compilers print them.
    Short,
    /// One page for a browser.
    Html,
    /// Graphviz, for `--emit cfg`.
    Dot,
}

/// `--color`
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum Color {
    /// On a terminal that wants them.
    #[default]
    Auto,
    /// Always.
    Always,
    /// Never.
    Never,
}

/// `--prelude`
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum PreludeChoice {
    /// One arbitrary byte is watched.
    #[default]
    WatchedByte,
    /// The papers' non-deterministic logging sets.
    LoggingSets,
    /// A file of the user's.
    File(String),
    /// What such a file holds.
    Loaded {
        file: String,
        /// Its declarations.
        prelude: Arc<Prelude>,
    },
}

/// `--arith`
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum Arithmetic {
    /// Integers where no wrap-around is proved, bit-vectors elsewhere.
    #[default]
    Auto,
    /// Integers.
    Int,
    /// Bit-vectors.
    Bv,
}

/// `--assume`: what the letter of PTX does not say.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum Assumption {
    /// [`Rules::tensor_order`]
    TensorOrder,
}

/// `--engine`
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum Engine {
    /// The symbolic proof; where barriers for a part of the block leave it without an answer, the exact engine.
    #[default]
    Auto,
    /// The symbolic proof, for all sizes and scalars.
    Symbolic,
    /// One execution that decides for all.
    Exact,
}

impl Default for Options {
    fn default() -> Self {
        Options {
            files: Vec::new(),
            target: None,
            list: false,
            entries: Vec::new(),
            geometry: Geometry::FREE,
            block_is_given: false,
            grid_is_given: false,
            cluster: None,
            tensors: Vec::new(),
            dynamic_shared: None,
            max_threads: 1 << 31,
            params: Vec::new(),
            known_params: Vec::new(),
            known_words: Vec::new(),
            known_aliases: Aliases::default(),
            launches: None,
            project: None,
            annotations: None,
            baseline: None,
            write_baseline: None,
            fail_on: None,
            cache: None,
            shard: None,
            emit: None,
            minimal: false,
            format: Format::Text,
            output: None,
            command: String::new(),
            timeout: Duration::from_secs(60),
            memory: None,
            jobs: NonZeroUsize::MIN,
            quiet: false,
            redundant: false,
            invariants: false,
            stats: false,
            color: Color::Auto,
            rules: Rules::default(),
            infer_modifies: false,
            any_values: false,
            prelude: PreludeChoice::WatchedByte,
            arith: Arithmetic::Auto,
            engine: Engine::Auto,
            omit_families: Vec::new(),
            model: None,
            unroll: UNROLL,
        }
    }
}
