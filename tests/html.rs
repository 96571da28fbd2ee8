//! The data of the HTML report: what the page is given is read back and compared with what the program says elsewhere.
//! What the page does with it is tested in a browser (tests/packages/test_html.py).

use crate::support::program::gpuvcc;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use flate2::read::ZlibDecoder;
use serde_json::Value;
use std::io::Read;

const LOOP: [&str; 5] = ["tests/kernels/reduce_sequential.ptx", "--block", "64", "--grid", "4"];
const RACE: [&str; 5] = ["tests/kernels/reduce_sequential_broken.ptx", "--block", "64", "--grid", "4"];
const DIVERGENCE: [&str; 5] = ["tests/kernels/early_return_broken.ptx", "--block", "64", "--grid", "4"];
const NAMED: [&str; 7] = ["tests/sync/one_buffer.ptx", "--block", "64", "--grid", "2", "--param", "n=5"];
const DEADLOCK: [&str; 7] = ["tests/sync/one_buffer_id_broken.ptx", "--block", "64", "--grid", "2", "--param", "n=5"];
const UNSUPPORTED: [&str; 5] = ["tests/kernels/ptx/trap_indirect_call.ptx", "--block", "64", "--grid", "1"];
const OF_IVL: [&str; 5] = ["tests/kernels/ivl/warp_loop.ivl", "--block", "64", "--grid", "1"];

const STAGES: [&str; 7] = ["kernel", "order", "predicated", "twothread", "ivl", "passive", "vc"];

/// The page of a run.
fn page(arguments: &[&str]) -> String {
    let ran = gpuvcc(&[arguments, &["--format", "html"]].concat(), b"");
    assert!([0, 1, 3].contains(&ran.exit), "{arguments:?}: exit {}\n{}", ran.exit, ran.stderr);
    ran.stdout
}

/// What a page is given.
fn data(page: &str) -> Value {
    let start = "<script type=\"application/json\" id=\"data\">";
    let (_, rest) = page.split_once(start).expect("the page has data");
    let (data, _) = rest.split_once("</script>").expect("the data ends");
    assert!(!data.contains('<'), "a text could end the data");
    serde_json::from_str(data).expect("the data is JSON")
}

/// The only kernel of a run, and its detail.
fn kernel(arguments: &[&str]) -> (Value, Value) {
    let data = data(&page(arguments));
    let [kernel] = &data["kernels"].as_array().expect("a list of kernels")[..] else {
        panic!("not one kernel: {data}")
    };
    (kernel.clone(), detail(kernel))
}

fn detail(kernel: &Value) -> Value {
    let packed = STANDARD.decode(text(&kernel["detail"])).expect("base64");
    let mut json = String::new();
    ZlibDecoder::new(&packed[..]).read_to_string(&mut json).expect("it is packed with zlib");
    serde_json::from_str(&json).expect("a detail is JSON")
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_else(|| panic!("no text: {value}"))
}

fn list(value: &Value) -> &[Value] {
    value.as_array().unwrap_or_else(|| panic!("no list: {value}"))
}

fn number(value: &Value) -> usize {
    value.as_u64().unwrap_or_else(|| panic!("no number: {value}")) as usize
}

fn stage<'d>(detail: &'d Value, name: &str) -> &'d Value {
    let found = list(&detail["stages"]).iter().find(|stage| stage["name"] == name);
    found.unwrap_or_else(|| panic!("no stage {name}"))
}

/// The instructions that a stage knows.
fn known(stage: &Value) -> Vec<usize> {
    list(&stage["lines"]).iter().flat_map(list).map(number).collect()
}

/// The numbers of the instructions at a line of the PTX.
fn at_line(detail: &Value, line: &Value) -> Vec<usize> {
    let instructions = list(&detail["instructions"]).iter().enumerate();
    let found = instructions.filter(|(_, instruction)| instruction["line"] == *line && instruction["source"] == 0);
    found.map(|(number, _)| number).collect()
}

/// What holds of every detail.
fn check(detail: &Value) {
    let instructions = list(&detail["instructions"]);
    let sources = list(&detail["sources"]);
    let line_of = |place: &Value| {
        let source = &sources[number(&place["source"])];
        let index = number(&place["line"]) - number(&source["first_line"]);
        text(&source["text"]).lines().nth(index).unwrap_or_else(|| panic!("{place} is not in its source")).to_string()
    };
    for instruction in instructions {
        let line = line_of(instruction);
        let (start, end) = (number(&instruction["column"]) - 1, number(&instruction["end_column"]) - 1);
        let written: String = line.chars().skip(start).take(end - start).collect();
        let written: Vec<&str> = written.split_whitespace().collect();
        assert!(
            text(&instruction["text"]).starts_with(&written.join(" ")) && !written.is_empty(),
            "{instruction}: {line}"
        );
        if !instruction["cuda"].is_null() {
            line_of(&instruction["cuda"]);
        }
    }
    let in_range = |value: &Value| assert!(number(value) < instructions.len(), "{value} of {}", instructions.len());
    assert_eq!(list(&detail["stages"]).iter().map(|stage| text(&stage["name"])).collect::<Vec<_>>(), STAGES);
    for stage in list(&detail["stages"]) {
        assert!(!text(&stage["title"]).is_empty() && !text(&stage["about"]).is_empty());
        let lines = list(&stage["lines"]);
        match stage["text"].as_str() {
            Some(text) => assert_eq!(text.lines().count(), lines.len(), "{}", stage["name"]),
            None => assert!(!text(&stage["failed"]).is_empty() && lines.is_empty(), "{stage}"),
        }
        lines.iter().flat_map(list).for_each(in_range);
    }
    for graph in ["graph", "barrier_graph"].into_iter().filter_map(|name| detail.get(name)) {
        let blocks = list(&graph["blocks"]);
        blocks.iter().flat_map(|block| list(&block["instructions"])).for_each(in_range);
        for edge in list(&graph["edges"]).iter().flat_map(list) {
            assert!(number(edge) < blocks.len());
        }
        let svg = text(&graph["svg"]);
        let drawing = roxmltree::Document::parse(svg).expect("the drawing is well formed");
        let drawn = drawing.descendants().filter(|node| node.attribute("data-block").is_some()).count();
        let edges = drawing.descendants().filter(|node| node.attribute("data-from").is_some()).count();
        assert_eq!((drawn, edges), (blocks.len(), list(&graph["edges"]).len()), "{svg}");
        assert!(drawing.descendants().all(|node| node.attribute("style").is_none()), "the page chooses colours");
    }
    for step in detail.get("replay").map(|replay| list(&replay["steps"])).unwrap_or_default() {
        in_range(&step["instruction"]);
    }
}

#[test]
fn a_verified_loop_has_its_stages_and_invariants() {
    let (kernel, detail) = kernel(&LOOP);
    assert_eq!((text(&kernel["verdict"]), text(&kernel["launch"])), ("verified", "block 64, grid 4"));
    assert_eq!(text(&kernel["json"]["verdict"]), "verified");
    assert!(text(&kernel["text"]).starts_with(text(&kernel["message"])) && !text(&kernel["text"]).contains(" s\n"));
    check(&detail);
    // The CUDA file lies beside the PTX.
    assert_eq!(list(&detail["sources"]).iter().map(|s| text(&s["language"])).collect::<Vec<_>>(), ["ptx", "cuda"]);
    let is_store = |instruction: &&Value| text(&instruction["text"]).starts_with("st.shared");
    let store = list(&detail["instructions"]).iter().find(is_store).expect("a store");
    assert!(text(&store["explain"]).contains("Writes the bytes"), "{store}");
    // Each stage is what the program prints, and knows each access to memory that threads share.
    for name in STAGES {
        let printed = gpuvcc(&[&LOOP[..], &["--emit", name]].concat(), b"");
        assert_eq!(text(&stage(&detail, name)["text"]), printed.stdout, "{name}");
        for (index, instruction) in list(&detail["instructions"]).iter().enumerate() {
            let opcode = text(&instruction["text"]);
            // Loads of an array that nobody writes are sliced away. Z3 is not asked about what holds as it stands.
            let is_early = ["kernel", "order"].contains(&name);
            let is_kept = ["ld.shared", "st.shared", "st.global"].iter().any(|access| opcode.starts_with(access));
            if is_early && opcode.starts_with("ld.global") || name != "vc" && is_kept {
                assert!(known(stage(&detail, name)).contains(&index), "{name} lacks {opcode}");
            }
        }
    }
    assert!(!known(stage(&detail, "vc")).is_empty());
    let invariants = list(&detail["invariants"]);
    let head = invariants.iter().find(|one| one["used"] == true).expect("an invariant that is used");
    let block = &list(&detail["graph"]["blocks"])[number(&head["head"])];
    assert_eq!((&block["label"], &block["loop_head"], text(&head["fate"])), (&head["loop"], &true.into(), "kept"));
    assert!(invariants.iter().any(|one| text(&one["fate"]).starts_with("dropped in iteration")));
    assert!(detail.get("replay").is_none() && detail.get("barriers").is_none());
}

#[test]
fn a_race_is_replayed_up_to_both_accesses() {
    let (kernel, detail) = kernel(&RACE);
    assert_eq!(text(&kernel["verdict"]), "race");
    check(&detail);
    let finding = &kernel["json"]["findings"][0];
    let racing: Vec<usize> = list(&finding["accesses"])
        .iter()
        .map(|access| *at_line(&detail, &access["ptx_line"]).first().expect("an instruction at this line"))
        .collect();
    for name in ["kernel", "order", "predicated", "twothread", "ivl", "passive"] {
        let known = known(stage(&detail, name));
        assert!(racing.iter().all(|number| known.contains(number)), "{name} lacks a racing access");
    }
    let replay = &detail["replay"];
    assert_eq!(replay["command"], finding["replay"]);
    let steps = list(&replay["steps"]);
    let defects: Vec<&Value> = steps.iter().filter(|step| step["defect"] == true).collect();
    let [first, second] = defects[..] else { panic!("not two steps of the defect") };
    assert_eq!([first, second].map(|step| number(&step["instruction"])), [racing[0], racing[1]]);
    assert!(steps.last().is_some_and(|step| step == second), "nothing comes after the defect");
    // The address that each thread has in its register is that of the finding.
    let offsets = [first, second].map(|step| {
        let thread = number(&step["thread"]);
        let instruction = text(&list(&detail["instructions"])[number(&step["instruction"])]["text"]);
        let address = instruction.split(['[', ']']).nth(1).expect("an address");
        let (register, offset) = address.split_once('+').unwrap_or((address, "0"));
        let mut value = list(&replay["threads"])[thread]["registers"].get(register).cloned();
        for other in steps.iter().filter(|other| number(&other["thread"]) == thread) {
            if std::ptr::eq(other, step) {
                break;
            }
            value = other["registers"].get(register).cloned().or(value);
        }
        value_of(text(&value.expect("the register is known"))) + offset.parse::<i128>().expect("a number")
    });
    assert_eq!(offsets[0], offsets[1], "the accesses are of the same size, and meet");
    let place = format!("bytes {} to {}", finding["offset"], finding["offset"].as_i64().expect("an offset") + 3);
    assert!([first, second].iter().all(|step| text(&step["note"]).ends_with(&place)), "{first} {second}");
}

fn value_of(text: &str) -> i128 {
    match text.strip_prefix("0x") {
        Some(digits) => i128::from_str_radix(digits, 16).expect("a number"),
        None => text.parse().expect("a number"),
    }
}

#[test]
fn a_divergence_shows_who_waits_where() {
    let (kernel, detail) = kernel(&DIVERGENCE);
    assert_eq!(text(&kernel["verdict"]), "divergence");
    check(&detail);
    let barriers = &detail["barriers"];
    let [place] = list(&barriers["places"]) else { panic!("not one barrier: {barriers}") };
    let instruction = &list(&detail["instructions"])[number(&place["instruction"])];
    assert!(text(&instruction["text"]).starts_with("bar.sync"), "{instruction}");
    assert_eq!(instruction["line"], place["line"]);
    let groups = list(&barriers["threads"]);
    assert!(groups.iter().any(|group| group["waits"] == 0) && groups.iter().any(|group| group["exited"] == true));
    assert_eq!(list(&detail["replay"]["threads"]).len(), 2);
}

#[test]
fn barriers_of_one_execution_are_drawn() {
    let (_, detail) = self::kernel(&NAMED);
    check(&detail);
    let graph = &detail["barrier_graph"];
    let labels: Vec<&str> = list(&graph["blocks"]).iter().map(|block| text(&block["label"])).collect();
    let expected = ["barrier 1, generations 0 to 4 (2 times each)", "barrier 2, generations 0 to 3 (2 times each)"];
    assert_eq!(labels, expected);
    assert!(list(&graph["blocks"]).iter().all(|block| list(&block["instructions"]).len() == 2), "{graph}");
    assert!(!text(&graph["svg"]).contains("fault"), "{graph}");
    let (deadlock, detail) = self::kernel(&DEADLOCK);
    check(&detail);
    assert!(text(&detail["barrier_graph"]["svg"]).contains("\"edge fault\""), "{}", detail["barrier_graph"]);
    let waits = list(&deadlock["json"]["findings"][0]["waits"]);
    assert_eq!(waits.iter().map(|wait| text(&wait["object"])).collect::<Vec<_>>(), ["barrier 2", "barrier 3"]);
    // The symbolic proof executes nothing.
    assert!(self::kernel(&LOOP).1.get("barrier_graph").is_none());
}

#[test]
fn what_cannot_be_built_says_why() {
    let (kernel, detail) = kernel(&UNSUPPORTED);
    assert_eq!(text(&kernel["verdict"]), "unsupported");
    check(&detail);
    for name in STAGES {
        assert!(stage(&detail, name).get("text").is_none(), "{name} of a kernel that is refused");
    }
    assert!(!list(&detail["instructions"]).is_empty() && !list(&detail["sources"]).is_empty());
}

#[test]
fn kernels_of_the_ivl_have_lines_too() {
    let (_, detail) = kernel(&OF_IVL);
    check(&detail);
    assert_eq!(text(&detail["sources"][0]["language"]), "ivl");
    for name in ["kernel", "twothread", "ivl", "passive"] {
        assert!(!known(stage(&detail, name)).is_empty(), "{name} knows no statement");
    }
}

#[test]
fn the_page_is_the_same_each_time_and_in_a_file() {
    let both = [&RACE[..1], &DIVERGENCE[..], &["--jobs", "2"]].concat();
    let first = page(&both);
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("report.html");
    let name = file.to_str().expect("a name");
    let ran = gpuvcc(&[&both[..], &["--format", "html", "-o", name]].concat(), b"");
    assert_eq!((ran.exit, ran.stdout.as_str()), (1, ""), "{}", ran.stderr);
    assert_eq!(std::fs::read_to_string(&file).expect("the file is there"), first);
    let data = data(&first);
    assert_eq!(list(&data["kernels"]).len(), 2);
    assert_eq!(data["counts"], serde_json::json!({ "divergence": 1, "race": 1 }));
    assert!(text(&data["command"]).ends_with("--jobs 2 --format html"), "{}", data["command"]);
    assert!(!text(&data["command"]).contains("report.html"));
    // Nothing else is left in the folder.
    assert_eq!(std::fs::read_dir(folder.path()).expect("the folder is there").count(), 1);
}

#[test]
fn every_format_goes_to_a_file() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("out");
    let name = file.to_str().expect("a name");
    for extra in [&["--quiet"][..], &["--format", "short"], &["--emit", "cfg"]] {
        let printed = gpuvcc(&[&UNSUPPORTED[..], extra].concat(), b"");
        std::fs::write(&file, "before").expect("it can be written");
        let ran = gpuvcc(&[&UNSUPPORTED[..], extra, &["--output", name]].concat(), b"");
        assert_eq!((ran.exit, ran.stdout.as_str(), &ran.stderr), (printed.exit, "", &printed.stderr), "{extra:?}");
        assert_eq!(std::fs::read_to_string(&file).expect("the file is there"), printed.stdout, "{extra:?}");
    }
    // Where it cannot be written nobody waits for the run.
    for name in [format!("{name}/report.html"), folder.path().to_string_lossy().into_owned()] {
        let ran = gpuvcc(&[&UNSUPPORTED[..], &["-o", &name]].concat(), b"");
        assert!(ran.exit == 2 && ran.stderr.contains("output-unwritable"), "{name}: {} {}", ran.exit, ran.stderr);
    }
}

#[test]
fn the_verdict_is_that_of_other_formats() {
    for arguments in [&LOOP, &RACE, &DIVERGENCE, &UNSUPPORTED, &OF_IVL] {
        let printed = gpuvcc(&[&arguments[..], &["--format", "json"]].concat(), b"");
        let json: Value = serde_json::from_str(&printed.stdout).expect("JSON");
        let (kernel, _) = kernel(arguments);
        let mut expected = json["kernels"][0].clone();
        expected["time_ms"] = 0.into();
        assert_eq!(kernel["json"], expected, "{arguments:?}");
    }
}
