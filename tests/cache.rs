//! `--cache`: what is kept is what a run would say anew, and is taken for the same question only.

use crate::support::program::{Ran, gpuvcc};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use tempfile::TempDir;

/// Answers of all kinds, some with sources beside them.
const FILES: [&str; 9] = [
    "nothing_to_check.ptx",
    "mangled_names.ptx",
    "answers_soon.ptx",
    "unknown_function_refused.ptx",
    "aligned_rule.ptx",
    "format_short.ptx",
    "inlined_header.ptx",
    "inlined_header.cu",
    "inlined_header.cuh",
];

/// A kernel that calls a function, with lines of a source.
const KERNEL: &str = "\
.version 8.0
.target sm_80
.address_size 64
.file 1 \"k.cu\"
.func put(.param .b64 at, .param .b32 value)
{
	.reg .b64 %rd<2>;
	.reg .b32 %r<2>;
	ld.param.u64 %rd1, [at];
	ld.param.u32 %r1, [value];
	st.global.u32 [%rd1], %r1;
	ret;
}
.visible .entry k(.param .u64 k_param_0, .param .u32 k_param_1)
{
	.reg .b32 %r<8>;
	.reg .b64 %rd<8>;
	.loc 1 2 0
	ld.param.u64 %rd1, [k_param_0];
	ld.param.u32 %r2, [k_param_1];
	mov.u32 %r1, %tid.x;
	mul.wide.u32 %rd2, %r1, 4;
	add.s64 %rd3, %rd1, %rd2;
	{
	.param .b64 at;
	.param .b32 value;
	st.param.b64 [at], %rd3;
	st.param.b32 [value], %r2;
	call.uni put, (at, value);
	}
	ret;
}
";

const SOURCE: &str = "__device__ void put(int* at, int value) { *at = value; }\n__global__ void k(int* out, int n) { put(out + threadIdx.x, n); }\n";

fn run(arguments: &[&str]) -> Ran {
    let ran = gpuvcc(arguments, b"");
    assert!([0, 1, 3].contains(&ran.exit), "{arguments:?}: exit {}\n{}{}", ran.exit, ran.stdout, ran.stderr);
    ran
}

/// How many answers are from the cache, and of how many.
fn kept(ran: &Ran) -> (usize, usize) {
    let line = ran.stderr.lines().find_map(|line| line.strip_suffix(" answers are from the cache"));
    let line = line.and_then(|line| line.strip_prefix("note: ")).unwrap_or_else(|| panic!("{}", ran.stderr));
    let (found, of) = line.split_once(" of ").expect("two numbers");
    (found.parse().expect("a number"), of.parse().expect("a number"))
}

/// The text without what each run measures anew.
fn untimed(text: &str) -> String {
    let is_time = |line: &str| ["\"time_ms\"", "time: "].iter().any(|word| line.trim_start().starts_with(word));
    let lines = text.lines().filter(|line| !is_time(line));
    let without = |line: &str| match line.split_once(" time=\"") {
        Some((before, rest)) => before.to_string() + rest.split_once('"').map_or("", |(_, after)| after),
        None => line.to_string(),
    };
    lines.map(without).collect::<Vec<_>>().join("\n")
}

fn path(path: &Path) -> String {
    path.to_string_lossy().into_owned()
}

/// All files below a folder.
fn files(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("an entry").path());
    let mut all: Vec<PathBuf> =
        entries.flat_map(|entry| if entry.is_dir() { files(&entry) } else { vec![entry] }).collect();
    all.sort();
    all
}

/// A folder with kernels, and one for answers.
struct Place {
    _folder: TempDir,
    kernels: PathBuf,
    cache: PathBuf,
}

impl Place {
    fn empty() -> Place {
        let folder = TempDir::new().expect("a folder");
        let (kernels, cache) = (folder.path().join("kernels"), folder.path().join("answers"));
        fs::create_dir(&kernels).expect("a folder");
        Place { _folder: folder, kernels, cache }
    }

    fn of_all_kinds() -> Place {
        let place = Place::empty();
        for file in FILES {
            fs::copy(Path::new("tests/cli/input").join(file), place.kernels.join(file)).expect("a copy");
        }
        place
    }

    /// One kernel, with all that may lie beside it.
    fn of_one() -> Place {
        let place = Place::empty();
        place.write("k.ptx", KERNEL);
        place.write("k.cu", SOURCE);
        place.write("k.json", "{\"num_warps\": 2, \"shared\": 0}");
        place.write("k.ttir", &ttir(16));
        place.write("k.ptx.gpuvcc", "kernel k:\n  at entry: requires %ntid.x > 0;\n");
        place.write("gpuvcc.toml", "[[kernel]]\nname = \"k\"\nrequires = [\"%ntid.x > 0\"]\n");
        place.write("launches.jsonl", "{\"kernel\": \"k\", \"block\": [64], \"grid\": [1]}\n");
        place.write("prelude.ivl", &prelude());
        place
    }

    fn write(&self, name: &str, text: &str) {
        fs::write(self.kernels.join(name), text).expect("the file is written");
    }

    fn path(&self, name: &str) -> String {
        path(&self.kernels.join(name))
    }

    fn run(&self, arguments: &[&str]) -> Ran {
        run(&[arguments, &["--cache", &path(&self.cache)]].concat())
    }
}

fn ttir(multiple: u32) -> String {
    format!("module {{\n  tt.func public @k(%a: !tt.ptr<i32>, %b: i32 {{tt.divisibility = {multiple} : i32}}) {{\n")
}

fn prelude() -> String {
    fs::read_to_string("prelude/watched_byte.ivl").expect("the prelude")
}

#[test]
fn answers_are_the_same_in_all_formats() {
    let place = Place::of_all_kinds();
    let folder = path(&place.kernels);
    let common = [&*folder, "--block", "64", "--grid", "1", "--redundant"];
    let first = place.run(&common);
    let (found, of) = kept(&first);
    assert!(found == 0 && of >= 9, "{}", first.stderr);
    for format in ["text", "short", "json", "sarif", "junit"] {
        let arguments = [&common[..], &["--format", format]].concat();
        let (fresh, again) = (run(&arguments), place.run(&arguments));
        assert_eq!(kept(&again), (of, of), "{format}");
        assert_eq!(untimed(&again.stdout), untimed(&fresh.stdout), "{format}");
        assert_eq!(again.exit, fresh.exit, "{format}");
        assert!(!fresh.stdout.is_empty() && !fresh.stderr.contains("cache"), "{}", fresh.stderr);
        if format == "text" {
            assert_eq!(first.stdout, again.stdout);
        }
    }
}

#[test]
fn what_is_looked_at_or_printed_does_not_matter() {
    let place = Place::of_one();
    let file = place.path("k.ptx");
    assert_eq!(kept(&place.run(&[&file])), (0, 1));
    let known = path(&place.kernels.join("known.json"));
    for more in [
        &["--jobs", "1"][..],
        &["--format", "json"],
        &["--fail-on", "any"],
        &["--entry", "k"],
        &["--shard", "1/1"],
        &["--color", "always"],
        &["--write-baseline", &known],
        &["--baseline", &known],
    ] {
        assert_eq!(kept(&place.run(&[&[&*file], more].concat())), (1, 1), "{more:?}");
    }
    // The folder in place of the file, whose name is the same.
    assert_eq!(kept(&place.run(&[&path(&place.kernels), "--entry", "k"])).0, 1);
    // What is not about reports does not ask.
    for more in [&["--stats"][..], &["--emit", "cfg"]] {
        let ran = place.run(&[&[&*file], more].concat());
        assert!(!ran.stderr.contains("cache"), "{}", ran.stderr);
    }
}

#[test]
fn every_change_of_the_question_is_another_question() {
    let place = Place::of_one();
    let changes: [(&str, String); 9] = [
        ("k.ptx", KERNEL.replace("mov.u32 %r1, %tid.x", "mov.u32 %r1, %tid.y")),
        ("k.ptx", KERNEL.replace("st.global.u32 [%rd1], %r1", "st.global.u32 [%rd1+4], %r1")),
        ("k.ptx", format!("{KERNEL}// a remark\n")),
        ("k.cu", SOURCE.replace("put(out + threadIdx.x, n)", "put(out + threadIdx.x,n)")),
        ("k.cu", SOURCE.replace("int n)", "int m)")),
        ("k.json", "{\"num_warps\": 1, \"shared\": 0}".to_string()),
        ("k.ttir", ttir(8)),
        ("k.ptx.gpuvcc", "kernel k:\n  at entry: requires %ntid.x > 1;\n".to_string()),
        ("gpuvcc.toml", "[[kernel]]\nname = \"k\"\nrequires = [\"%ntid.x > 1\"]\n".to_string()),
    ];
    let file = place.path("k.ptx");
    assert_eq!(kept(&place.run(&[&file, "--grid", "1"])), (0, 1));
    for (name, text) in changes {
        let before = fs::read_to_string(place.kernels.join(name)).expect("a file");
        assert_ne!(before, text, "{name} is changed");
        place.write(name, &text);
        let changed = place.run(&[&file, "--grid", "1"]);
        assert_eq!(kept(&changed), (0, 1), "{name}: {text}");
        assert_eq!(untimed(&changed.stdout), untimed(&run(&[&file, "--grid", "1"]).stdout));
        place.write(name, &before);
        assert_eq!(kept(&place.run(&[&file, "--grid", "1"])), (1, 1), "{name} is as before");
    }
    // The sidecar is gone; the same text under another name.
    fs::rename(place.path("k.ptx.gpuvcc"), place.path("away")).expect("a file");
    assert_eq!(kept(&place.run(&[&file, "--grid", "1"])), (0, 1));
    place.write("other.ptx", KERNEL);
    assert_eq!(kept(&place.run(&[&place.path("other.ptx"), "--grid", "1"])), (0, 1));
}

#[test]
fn every_option_is_another_question() {
    let place = Place::of_one();
    let file = place.path("k.ptx");
    let own_prelude = place.path("prelude.ivl");
    let sidecar = place.path("k.ptx.gpuvcc");
    let base = [&*file, "--grid", "1"];
    assert_eq!(kept(&place.run(&base)), (0, 1));
    for option in [
        &["--block", "32"][..],
        &["--block", "64"],
        &["--grid", "2"],
        &["--param", "1=16"],
        &["--param", "1=32"],
        &["--max-threads", "5000"],
        &["--timeout", "59"],
        &["--memory", "3000"],
        &["--any-values"],
        &["--allow-same-value"],
        &["--volatile-races"],
        &["--may-alias"],
        &["--exited-threads=ok"],
        &["--unknown-functions=arbitrary"],
        &["--check-bounds"],
        &["--infer-modifies"],
        &["--prelude", "logging-sets"],
        &["--prelude", &own_prelude],
        &["--arith", "int"],
        &["--arith", "bv"],
        &["--omit-family", "congruence"],
        &["--redundant"],
        &["--invariants"],
        &["--target", "sm_80"],
        &["--annotations", &sidecar],
    ] {
        let given = if option[0] == "--grid" { &base[..1] } else { &base[..] };
        let arguments = [given, option].concat();
        assert_eq!(kept(&place.run(&arguments)), (0, 1), "{option:?}");
    }
    assert_eq!(kept(&place.run(&base)), (1, 1));
    // A prelude of the same name that says something else.
    let other = fs::read_to_string("prelude/logging_sets.ivl").expect("the other prelude");
    place.write("prelude.ivl", &other);
    assert_eq!(kept(&place.run(&[&base[..], &["--prelude", &own_prelude]].concat())), (0, 1));
}

#[test]
fn every_launch_is_another_question() {
    let place = Place::of_one();
    let (file, launches) = (place.path("k.ptx"), place.path("launches.jsonl"));
    let arguments = [&*file, "--launches", &launches];
    assert_eq!(kept(&place.run(&arguments)), (0, 1));
    assert_eq!(kept(&place.run(&arguments)), (1, 1));
    for line in [
        "{\"kernel\": \"k\", \"block\": [65], \"grid\": [1]}",
        "{\"kernel\": \"k\", \"block\": [64], \"grid\": [2]}",
        "{\"kernel\": \"k\", \"block\": [64], \"grid\": [1], \"dynamic_shared\": 4}",
        "{\"kernel\": \"k\", \"block\": [64], \"grid\": [1], \"params\": {\"1\": 32}}",
        "{\"kernel\": \"k\", \"block\": [64], \"grid\": [1], \"cluster\": [2,1,1]}",
        // The report names the line.
        "\n{\"kernel\": \"k\", \"block\": [64], \"grid\": [1]}",
    ] {
        place.write("launches.jsonl", line);
        assert_eq!(kept(&place.run(&arguments)), (0, 1), "{line}");
    }
    // The project knows a launch, and the host's source.
    place.write("gpuvcc.toml", "[[kernel]]\nname = \"k\"\nlaunch = [{ block = [64], grid = [1] }]\n");
    assert_eq!(kept(&place.run(&[&file])), (0, 1));
    place.write("gpuvcc.toml", "[[kernel]]\nname = \"k\"\nlaunch = [{ block = [64], grid = [3] }]\n");
    assert_eq!(kept(&place.run(&[&file])), (0, 1));
    place.write("gpuvcc.toml", "");
    for blocks in [1, 2] {
        place.write("k.cu", &format!("{SOURCE}void go(int* p) {{ k<<<{blocks}, 64>>>(p, 16); }}\n"));
        assert_eq!(kept(&place.run(&[&file, &place.path("k.cu")])), (0, 1));
    }
}

/// A program that differs in one byte behind its code, or that has such a libz3, knows none of the answers.
#[test]
fn another_program_has_other_answers() {
    let place = Place::of_one();
    let file = place.path("k.ptx");
    assert_eq!(kept(&place.run(&[&file])), (0, 1));
    let program = Path::new(env!("CARGO_BIN_EXE_gpuvcc"));
    let library = program.with_file_name("libz3.so.5.3");
    let folder = TempDir::new().expect("a folder");
    let (own, own_library) = (folder.path().join("gpuvcc"), folder.path().join("libz3.so.5.3"));
    fs::copy(program, &own).expect("a copy");
    fs::copy(&library, &own_library).expect("a copy");
    let run_own = || {
        let mut command = Command::new(&own);
        command.args([&*file, "--cache", &path(&place.cache)]).env("LD_LIBRARY_PATH", folder.path());
        let output = command.output().expect("the program runs");
        let text = |bytes: Vec<u8>| String::from_utf8_lossy(&bytes).into_owned();
        kept(&Ran { exit: 0, stdout: text(output.stdout), stderr: text(output.stderr) })
    };
    assert_eq!(run_own(), (1, 1), "the same files elsewhere");
    for changed in [&own, &own_library] {
        let mut bytes = fs::read(changed).expect("a file");
        bytes.push(0);
        fs::write(changed, bytes).expect("the file is written");
        assert_eq!(run_own(), (0, 1), "{}", changed.display());
        assert_eq!(run_own(), (1, 1), "{}", changed.display());
    }
    assert_eq!(kept(&place.run(&[&file])), (1, 1), "the first one has its own");
}

#[test]
fn damaged_entries_are_written_anew() {
    let place = Place::of_all_kinds();
    let arguments = [&*path(&place.kernels), "--block", "64", "--grid", "1"];
    let fresh = place.run(&arguments);
    let (_, of) = kept(&fresh);
    let entries = files(&place.cache);
    assert_eq!(entries.len(), of);
    let whole: Vec<Vec<u8>> = entries.iter().map(|entry| fs::read(entry).expect("an entry")).collect();
    type Damage = fn(&[u8], &[u8]) -> Vec<u8>;
    let damages: [(&str, Damage); 5] = [
        ("empty", |_, _| Vec::new()),
        ("truncated", |bytes, _| bytes[..bytes.len() - 2].to_vec()),
        ("another verdict", |bytes, _| {
            let text = String::from_utf8_lossy(bytes).into_owned();
            text.replace("\"verdict\":", "\"verdict\": ").into_bytes()
        }),
        ("no text", |bytes, _| [bytes, &[0xff]].concat()),
        ("of another kernel", |_, other| other.to_vec()),
    ];
    for (what, damage) in damages {
        for (index, entry) in entries.iter().enumerate() {
            fs::write(entry, damage(&whole[index], &whole[(index + 1) % of])).expect("the entry is written");
        }
        let ran = place.run(&arguments);
        assert_eq!((kept(&ran), untimed(&ran.stdout)), ((0, of), untimed(&fresh.stdout)), "{what}");
        assert_eq!(kept(&place.run(&arguments)), (of, of), "{what}: mended");
    }
    assert_eq!(files(&place.cache), entries, "nothing else is left");
}

#[test]
fn processes_share_a_cache() {
    let place = Place::of_all_kinds();
    let start = || {
        let mut command = Command::new(env!("CARGO_BIN_EXE_gpuvcc"));
        command.args([&*path(&place.kernels), "--block", "64", "--grid", "1", "--cache", &path(&place.cache)]);
        command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("the program starts")
    };
    let children = [start(), start(), start()];
    let output = |child: Child| child.wait_with_output().expect("the program ends").stdout;
    let outputs = children.map(|child| untimed(&String::from_utf8_lossy(&output(child))));
    assert!(!outputs[0].is_empty());
    assert!(outputs.iter().all(|output| *output == outputs[0]));
    let again = place.run(&[&path(&place.kernels), "--block", "64", "--grid", "1"]);
    let (found, of) = kept(&again);
    assert_eq!((found, &untimed(&again.stdout)), (of, &outputs[0]));
    assert_eq!(files(&place.cache).len(), of);
}

/// Two kernels that wait for the clock are not kept, and the third one is.
#[test]
fn what_the_clock_ends_is_not_kept() {
    let place = Place::empty();
    place.write("slow.ptx", &slow());
    place.write("quick.ptx", KERNEL);
    let arguments = [&*path(&place.kernels), "--timeout", "1"];
    let first = place.run(&arguments);
    assert!(first.stdout.contains("the time is over (--timeout)"), "{}", first.stdout);
    assert_eq!(kept(&first), (0, 2));
    assert_eq!(kept(&place.run(&arguments)), (1, 2));
    assert_eq!(files(&place.cache).len(), 1);
}

/// A kernel with more instructions than are lowered in a second.
fn slow() -> String {
    let mut body = String::new();
    for number in 0..6000u64 {
        let factor = ((number * 2_654_435_761 + 12_345) % (1 << 31)) | 1;
        body += &format!(
            "mul.lo.u32 %r2, %r1, {factor};\nxor.b32 %r2, %r2, {};\nshr.u32 %r2, %r2, {};\nmul.wide.u32 %rd2, %r2, 4;\n\
             add.u64 %rd3, %rd1, %rd2;\nst.global.u32 [%rd3], %r1;\n",
            factor * 31 % (1 << 31),
            8 + number % 12
        );
    }
    format!(
        ".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry slow(.param .u64 p)\n{{\n.reg .b32 %r<4>;\n\
         .reg .b64 %rd<4>;\nld.param.u64 %rd1, [p];\nmov.u32 %r1, %tid.x;\n{body}ret;\n}}\n"
    )
}

#[test]
fn a_cache_that_cannot_be_written_is_no_error() {
    let place = Place::of_one();
    fs::write(&place.cache, "a file").expect("the file is written");
    let ran = place.run(&[&place.path("k.ptx")]);
    assert_eq!(kept(&ran), (0, 1));
    assert!(ran.stderr.contains("the cache does not keep all answers"), "{}", ran.stderr);
    assert_eq!(untimed(&ran.stdout), untimed(&run(&[&place.path("k.ptx")]).stdout));
}

#[test]
fn the_environment_names_a_cache() {
    let place = Place::of_one();
    let run = |more: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_gpuvcc"));
        command.arg(place.path("k.ptx")).args(more).env("GPUVCC_CACHE", &place.cache);
        let output = command.output().expect("the program runs");
        String::from_utf8_lossy(&output.stderr).into_owned()
    };
    assert!(run(&[]).contains("0 of 1 answers are from the cache"));
    assert!(run(&[]).contains("1 of 1 answers are from the cache"));
    assert_eq!(run(&["--cache="]), "");
    assert_eq!(run(&["--quiet"]), "");
}
