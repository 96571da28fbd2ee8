//! PTX in binaries and folders, through the program: which modules are taken, the verdicts on them, and the
//! places that the messages name. The files are described in tests/containers/README.md; `writer` makes those that no
//! compiler makes, `damage` breaks all of them.

mod damage;
mod folders;
mod hosts;
mod reading;
mod writer;

use crate::support::program::{Ran, gpuvcc};
use hosts::{ar, coff, lib, pe};
use serde_json::Value;
use writer::{FAMILY, MACHINE_CODE, PTX, Packing, SPECIFIC, elf, fat_binary, image};

const FOLDER: &str = "tests/containers";

/// The launch of all cases.
const LAUNCH: [&str; 4] = ["--block", "64", "--grid", "1"];

/// What is expected of one kernel.
struct Expected {
    file: String,
    entry: &'static str,
    target: Option<&'static str>,
    verdict: &'static str,
}

fn expected(file: &str, entry: &'static str, target: Option<&'static str>) -> Expected {
    let verdict = if entry == "shift" { "race" } else { "verified" };
    Expected { file: file.to_string(), entry, target, verdict }
}

/// Verifies with `--format json` and compares; each race lies in the load and the store, and its command shows it.
fn check(arguments: &[&str], input: &[u8], expected: &[Expected]) -> Ran {
    let ran = gpuvcc(&[arguments, &["--format", "json"]].concat(), input);
    let json: Value = serde_json::from_str(&ran.stdout).unwrap_or_else(|_| panic!("{arguments:?}: {}", ran.stderr));
    let kernels = json["kernels"].as_array().expect("kernels");
    let found: Vec<_> = kernels.iter().map(|k| (&k["file"], &k["entry"], &k["target"], &k["verdict"])).collect();
    assert_eq!(found.len(), expected.len(), "{arguments:?}: {found:?}\n{}", ran.stderr);
    for (kernel, wanted) in kernels.iter().zip(expected) {
        assert_eq!(kernel["file"], *wanted.file, "{arguments:?}");
        assert_eq!(kernel["entry"], wanted.entry, "{arguments:?}");
        assert_eq!(kernel["target"].as_str(), wanted.target, "{arguments:?}");
        assert_eq!(kernel["verdict"], wanted.verdict, "{arguments:?}: {kernel}");
        if wanted.verdict == "race" {
            race_is_placed(kernel, input.is_empty());
        }
    }
    let race = expected.iter().any(|kernel| kernel.verdict == "race");
    assert_eq!(ran.exit, i32::from(race), "{arguments:?}: {}", ran.stderr);
    ran
}

fn race_is_placed(kernel: &Value, replay: bool) {
    let finding = &kernel["findings"][0];
    let mut accesses: Vec<(&str, i64, &str)> = finding["accesses"]
        .as_array()
        .expect("accesses")
        .iter()
        .map(|a| (a["op"].as_str().unwrap(), a["ptx_line"].as_i64().unwrap(), a["ptx"].as_str().unwrap()))
        .collect();
    accesses.sort_unstable();
    let [("read", load, load_text), ("write", store, store_text)] = accesses[..] else { panic!("{accesses:?}") };
    assert!(load_text.starts_with("ld.global") && store_text.starts_with("st.global"), "{accesses:?}");
    assert_eq!(store, load + 1, "{accesses:?}");
    if replay {
        let command = finding["replay"].as_str().expect("a command").replace('\'', "");
        let words: Vec<&str> = command.split(' ').skip(1).collect();
        let shown = gpuvcc(&[&words[..], &["--format", "json"]].concat(), b"");
        assert_eq!(shown.exit, 1, "`{command}`: {}{}", shown.stdout, shown.stderr);
    }
}

fn fixture(name: &str) -> String {
    format!("{FOLDER}/{name}")
}

fn with_launch<'a>(arguments: &[&'a str]) -> Vec<&'a str> {
    [arguments, &LAUNCH].concat()
}

#[test]
fn fat_binaries_of_every_compression() {
    for name in ["plain.fatbin", "lz4.fatbin", "zstd.fatbin", "group.fatbin"] {
        let file = fixture(name);
        for (arguments, target) in [
            (&[][..], "sm_90"),
            (&["--target", "sm_80"], "sm_80"),
            (&["--target", "compute_80"], "sm_80"),
            (&["--target", "90"], "sm_90"),
        ] {
            let arguments = with_launch(&[&[&*file], arguments].concat());
            let module = format!("{file}:shift.{target}.ptx");
            let ran = check(&arguments, b"", &[expected(&module, "shift", Some(target))]);
            let picks = ran.stderr.contains("has PTX for sm_80, sm_90; sm_90 is looked at");
            assert_eq!(picks, !arguments.contains(&"--target"), "{}", ran.stderr);
        }
    }
}

#[test]
fn standard_input() {
    let bytes = std::fs::read(fixture("zstd.fatbin")).unwrap();
    check(&with_launch(&["-"]), &bytes, &[expected("<stdin>:shift.sm_90.ptx", "shift", Some("sm_90"))]);
    let text = gpuvcc(&["-", "--list"], &bytes);
    assert!(text.stdout.contains("<stdin>:shift.sm_80.ptx: PTX for sm_80"), "{}", text.stdout);
}

#[test]
fn objects_and_libraries() {
    let file = fixture("relocatable.o");
    let module = format!("{file}:shift.sm_90.ptx");
    check(&with_launch(&[&file]), b"", &[expected(&module, "shift", Some("sm_90"))]);

    let file = fixture("library.so");
    let (shift, copy) = (format!("{file}:shift.sm_90.ptx"), format!("{file}:copy.sm_90.ptx"));
    let both = [expected(&shift, "shift", Some("sm_90")), expected(&copy, "copy", Some("sm_90"))];
    let ran = check(&with_launch(&[&file]), b"", &both);
    assert!(ran.stderr.contains("1 unit has no PTX, only code that is not looked at (code.cu)"), "{}", ran.stderr);
    check(&with_launch(&[&file, "--entry", "copy"]), b"", &both[1..]);
    // The name that a message shows can be given.
    let copy_80 = format!("{file}:copy.sm_80.ptx");
    check(&with_launch(&[&copy_80]), b"", &[expected(&copy_80, "copy", Some("sm_80"))]);
}

#[test]
fn a_cubin_with_debug_information_keeps_its_ptx() {
    let file = fixture("debug.cubin");
    let module = format!("{file}:1.sm_90.ptx");
    check(&with_launch(&[&file]), b"", &[expected(&module, "shift", Some("sm_90"))]);
}

#[test]
fn machine_code_alone_is_refused() {
    for name in ["machine_code.cubin", "machine_code.fatbin"] {
        let ran = gpuvcc(&[&fixture(name)], b"");
        assert_eq!(ran.exit, 2);
        let text = ran.stderr;
        assert!(text.contains("machine code only (for sm_90), no PTX"), "{text}");
        assert!(text.contains("-gencode arch=compute_90,code=compute_90"), "{text}");
    }
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.out");
    std::fs::write(&path, elf(64, &[(".text", b"\x90\x90")])).unwrap();
    let ran = gpuvcc(&[&path.to_string_lossy()], b"");
    assert!(ran.exit == 2 && ran.stderr.contains("an ELF file with no code for a GPU"), "{}", ran.stderr);
}

#[test]
fn lists_and_targets_that_are_not_there() {
    let file = fixture("library.so");
    let ran = gpuvcc(&["--list", &file, &fixture("triton")], b"");
    let lines: Vec<&str> = ran.stdout.lines().collect();
    let head = |name: &str| format!("{file}:{name}: PTX for ");
    assert_eq!((ran.exit, lines.len()), (0, 7), "{}{}", ran.stdout, ran.stderr);
    for (line, name) in lines.iter().zip(["shift.sm_80.ptx", "shift.sm_90.ptx", "copy.sm_80.ptx", "copy.sm_90.ptx"]) {
        assert!(line.starts_with(&head(name)) && line.ends_with(" bytes"), "{line}");
    }
    assert!(lines[4].starts_with(&format!("{file}: machine code for sm_90, ")), "{}", lines[4]);
    assert_eq!(lines[5..], [fixture("triton/2QK/shift.ptx"), fixture("triton/DDT/add.ptx")]);

    for (arguments, message) in [
        (&[&*file, "--target", "sm_100"][..], "has no PTX for sm_100"),
        (&[&*format!("{file}:shift.sm_70.ptx")], "has no module shift.sm_70.ptx"),
        (&[&*format!("{}:k.ptx", fixture("triton/2QK/shift.ptx"))], "is no binary, so it has no module k.ptx"),
        (&[&*file, "--target", "fast"], "`fast` is no target"),
        (&[&*file, "--list", "--format", "json"], "--list prints text"),
    ] {
        let ran = gpuvcc(arguments, b"");
        assert!(ran.exit == 2 && ran.stderr.contains(message), "{arguments:?}: {}", ran.stderr);
    }
    let there = gpuvcc(&[&file, "--target", "sm_100"], b"").stderr;
    assert!(there.contains("there are: shift.sm_80.ptx, shift.sm_90.ptx, copy.sm_80.ptx"), "{there}");
}

fn ptx(entry: &str, target: &str) -> Vec<u8> {
    let body = match entry {
        "shift" => "ld.global.u32 %r2, [%rd2+4];\nst.global.u32 [%rd2], %r2;",
        _ => "st.global.u32 [%rd2], %r1;",
    };
    format!(
        ".version 8.0\n.target {target}\n.address_size 64\n.visible .entry {entry}(.param .u64 a)\n{{\n\
         .reg .b32 %r<3>;\n.reg .b64 %rd<3>;\nld.param.u64 %rd0, [a];\nmov.u32 %r1, %tid.x;\n\
         mul.wide.u32 %rd1, %r1, 4;\nadd.s64 %rd2, %rd0, %rd1;\n{body}\nret;\n}}\n"
    )
    .into_bytes()
}

/// A written file in a folder of its own.
fn written(name: &str, bytes: &[u8]) -> (tempfile::TempDir, String) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(name);
    std::fs::write(&path, bytes).unwrap();
    let path = path.to_string_lossy().into_owned();
    (folder, path)
}

#[test]
fn variants_and_names_of_modules() {
    for packing in [Packing::None, Packing::Lz4, Packing::Zstd] {
        let images = [
            image(PTX, 90, &ptx("copy", "sm_90"), packing),
            image(PTX, 90, &ptx("shift", "sm_90a"), packing).flagged(SPECIFIC).named("odd name$.cu"),
            image(MACHINE_CODE, 100, b"no ELF", packing),
            image(PTX, 80, &ptx("copy", "sm_80"), packing),
        ];
        let (_folder, path) = written("k", &fat_binary(&images));
        let module = format!("{path}:odd_name_.sm_90a.ptx");
        check(&with_launch(&[&path]), b"", &[expected(&module, "shift", Some("sm_90a"))]);
        let module = format!("{path}:1.sm_90.ptx");
        check(&with_launch(&[&path, "--target=sm_90"]), b"", &[expected(&module, "copy", Some("sm_90"))]);
    }
    let unit = |name: &str| {
        let text = ptx("copy", "sm_100f");
        fat_binary(&[image(PTX, 100, &text, Packing::None).flagged(FAMILY).named(name)])
    };
    let (_folder, path) = written("k", &[&unit("k-2.cu")[..], &[0; 24], &unit("k.cu"), &unit("x/k.c")].concat());
    let names = ["k-2", "k", "k-3"].map(|stem| format!("{path}:{stem}.sm_100f.ptx"));
    check(&with_launch(&[&path]), b"", &names.map(|name| expected(&name, "copy", Some("sm_100f"))));
}

#[test]
fn units_differ_in_what_they_hold() {
    let linked = [image(MACHINE_CODE, 90, &elf(64, &[(".text.shift", b"code")]), Packing::Zstd)];
    let old = fat_binary(&[image(PTX, 70, &ptx("copy", "sm_70"), Packing::Lz4).named("old.cu")]);
    let new = fat_binary(&[image(PTX, 90, &ptx("shift", "sm_90"), Packing::Zstd).named("new.cu")]);
    let functions = fat_binary(&[image(PTX, 90, b".version 8.0\n.target sm_90\n.address_size 64\n", Packing::None)]);
    for bits in [32, 64] {
        let units = [&fat_binary(&linked)[..], &old, &new].concat();
        let sections = [(".nv_fatbin", &units[..]), ("__nv_relfatbin", &functions)];
        let (_folder, path) = written("a.out", &elf(bits, &sections));
        let old = expected(&format!("{path}:old.sm_70.ptx"), "copy", Some("sm_70"));
        let new = expected(&format!("{path}:new.sm_90.ptx"), "shift", Some("sm_90"));
        // The unit without kernels is no error, as others have some.
        let ran = check(&with_launch(&[&path, "--target", "sm_70"]), b"", &[old]);
        assert!(ran.stderr.contains("not for sm_70, so not looked at: new.sm_90.ptx"), "{}", ran.stderr);
        let ran = check(&with_launch(&[&path, "--target", "sm_90"]), b"", &[new]);
        // The linked code is that of a unit which has PTX.
        assert!(!ran.stderr.contains("no PTX"), "{}", ran.stderr);
    }
    let ran = gpuvcc(&["-"], &functions);
    assert!(ran.exit == 2 && ran.stderr.contains("has no kernel"), "{}", ran.stderr);
}

#[test]
fn programs_and_objects_of_windows() {
    let unit =
        |entry: &str, name: &str, packing| fat_binary(&[image(PTX, 90, &ptx(entry, "sm_90"), packing).named(name)]);
    let (shift, copy) = (unit("shift", "shift.cu", Packing::Zstd), unit("copy", "C:\\src\\copy.cu", Packing::None));
    let whole =
        [(".text", &b"code"[..]), (".nv_fatbin", &shift), ("__nv_relfatbin", &copy), (".nvFatBinSegment", b"w")];
    let alone = [("__nv_rel", &copy[..])];
    for (name, bytes, both) in [
        ("a.exe", pe(64, &whole), true),
        ("a.dll", pe(32, &whole), true),
        ("a.obj", coff(false, &whole), true),
        ("big.obj", coff(true, &whole), true),
        ("short.obj", coff(false, &alone), false),
    ] {
        let (_folder, path) = written(name, &bytes);
        let (shift, copy) = (format!("{path}:shift.sm_90.ptx"), format!("{path}:copy.sm_90.ptx"));
        let of = [expected(&shift, "shift", Some("sm_90")), expected(&copy, "copy", Some("sm_90"))];
        check(&with_launch(&[&path]), b"", if both { &of } else { &of[1..] });
        check(&with_launch(&[&copy]), b"", &of[1..]);
    }
    for (bytes, what) in [(pe(64, &whole[..1]), "a PE file"), (coff(false, &whole[..1]), "a COFF object")] {
        let ran = gpuvcc(&["-"], &bytes);
        assert!(ran.exit == 2 && ran.stderr.contains(&format!("{what} with no code for a GPU")), "{}", ran.stderr);
    }
    // Text is no program for starting like one.
    let ran = gpuvcc(&["-"], b"MZ");
    assert!(ran.exit == 2 && ran.stderr.contains("unknown-kind"), "{}", ran.stderr);
}

#[test]
fn archives() {
    let unit = |entry: &str, name: &str| {
        let packed = |arch: u32| image(PTX, arch, &ptx(entry, &format!("sm_{arch}")), Packing::Lz4).named(name);
        fat_binary(&[packed(80), packed(90)])
    };
    let (shift, copy, ident) = (unit("shift", "shift.cu"), unit("copy", "copy.cu"), unit("copy", ""));
    let object = |unit: &[u8]| elf(64, &[(".text", &b"odd"[..]), (".nv_fatbin", unit)]);
    let code = fat_binary(&[image(MACHINE_CODE, 90, b"no ELF", Packing::None)]);
    let import = [&[0, 0, 0xff, 0xff, 0, 0][..], &[7; 31]].concat();
    let members = [
        ("shift.o", object(&shift)),
        ("an odd name $ of a member.obj", coff(false, &[(".nv_fatbin", &copy)])),
        ("host.o", elf(64, &[(".text", b"code")])),
        ("odd:folder/dir\\twice.o", object(&[&ident[..], &ident].concat())),
        ("import.dll", import),
        ("twice.o", elf(32, &[("__nv_relfatbin", &ident)])),
        ("README", b"MZ, no program".to_vec()),
        ("copy.ptx", [b"// odd\n", &ptx("copy", "sm_90")[..]].concat()),
        ("code.o", object(&code)),
    ];
    let members: Vec<(&str, &[u8])> = members.iter().map(|(name, bytes)| (*name, &bytes[..])).collect();
    for (name, bytes) in [("libk.a", ar(&members)), ("k.lib", lib(&members))] {
        let (_folder, path) = written(name, &bytes);
        let modules = [
            "shift.o:shift.sm_90.ptx",
            "an_odd_name___of_a_member.obj:copy.sm_90.ptx",
            "twice.o:1.sm_90.ptx",
            "twice.o:2.sm_90.ptx",
            "twice.o:3.sm_90.ptx",
            "copy.ptx:copy.sm_90.ptx",
        ]
        .map(|module| format!("{path}:{module}"));
        let entry = |module: &String| if module.contains("shift") { "shift" } else { "copy" };
        let all: Vec<Expected> = modules.iter().map(|module| expected(module, entry(module), Some("sm_90"))).collect();
        let ran = check(&with_launch(&[&path]), b"", &all);
        assert!(ran.stderr.contains("1 unit has no PTX, only code that is not looked at (code.o)"), "{}", ran.stderr);
        // Each name that is shown can be given.
        for (module, wanted) in modules.iter().zip(all) {
            check(&with_launch(&[module]), b"", &[wanted]);
        }
        let listed = gpuvcc(&["--list", &path], b"").stdout;
        assert!(modules.iter().all(|module| listed.contains(&format!("{module}: PTX for sm_90, "))), "{listed}");
        let ran = gpuvcc(&with_launch(&[&path, "--target", "sm_80", "--format", "json"]), b"");
        assert!(ran.stderr.contains("not for sm_80, so not looked at: copy.ptx:copy.sm_90.ptx"), "{}", ran.stderr);
    }
    let host = ar(&members[2..3]);
    let nested = ar(&[("a.a", &host)]);
    let thin = b"!<thin>\nk.o/            0           0     0     644     4         `\n".to_vec();
    for (bytes, message) in [
        (&host, "an archive with no code for a GPU"),
        (&ar(&[]), "an archive with no code for a GPU"),
        (&nested, "member a.a: an archive in an archive"),
        (&thin, "a thin archive, which names files instead of holding them"),
    ] {
        let ran = gpuvcc(&["-"], bytes);
        assert!(ran.exit == 2 && ran.stderr.contains(message), "{message}: {}", ran.stderr);
    }
}

#[test]
fn a_damaged_member_of_an_archive() {
    let unit = fat_binary(&[image(PTX, 90, &ptx("copy", "sm_90"), Packing::Zstd).named("k.cu")]);
    let good = elf(64, &[(".nv_fatbin", &unit)]);
    let bad = elf(64, &[(".nv_fatbin", b"garbage")]);
    let (_folder, path) = written("libk.a", &ar(&[("bad.o", &bad), ("good.o", &good), ("cut.o", &good[..100])]));
    let module = format!("{path}:good.o:k.sm_90.ptx");
    let ran = gpuvcc(&with_launch(&[&path, "--format", "json"]), b"");
    let json: Value = serde_json::from_str(&ran.stdout).unwrap();
    assert_eq!(json["kernels"][0]["file"], *module, "{json}");
    assert_eq!(json["kernels"][0]["verdict"], "verified");
    let errors = json["errors"].as_array().unwrap();
    for (error, message) in
        errors.iter().zip(["member bad.o: no fat binary starts here", "member cut.o: a damaged ELF"])
    {
        assert_eq!(error["code"], "container-damaged");
        assert!(error["message"].as_str().unwrap().contains(message), "{error}");
    }
    assert_eq!((ran.exit, errors.len()), (2, 2), "{}", ran.stderr);
    let ran = gpuvcc(&[&path, "--list"], b"");
    assert!(ran.exit == 2 && ran.stdout.contains(&module) && ran.stderr.contains("member bad.o"), "{}", ran.stderr);
    // One module is looked at without the others.
    check(&with_launch(&[&module]), b"", &[expected(&module, "copy", Some("sm_90"))]);
    for wanted in [format!("{path}:bad.o:k.sm_90.ptx"), format!("{path}:cut.o:k.sm_90.ptx")] {
        let ran = gpuvcc(&[&wanted], b"");
        assert!(ran.exit == 2 && ran.stderr.contains("container-damaged"), "{}", ran.stderr);
    }
}
