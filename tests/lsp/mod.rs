//! The language server, as editors talk to it.

mod client;

use client::{Client, columns, line_of, units, uri};
use serde_json::{Value, json};
use std::fs;
use std::path::Path;
use std::process::Command;

/// A race of one warp with another, in shared memory.
const RACE: &str = "tests/kernels/ptx/ldmatrix_broken.ptx";

fn kernel(path: &str) -> String {
    fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(path)).expect("a kernel")
}

fn has_code(diagnostics: &[Value], code: &str) -> bool {
    diagnostics.iter().any(|diagnostic| diagnostic["code"] == code)
}

fn related(diagnostic: &Value) -> Vec<(String, u64, String)> {
    let text = |value: &Value| value.as_str().expect("text").to_string();
    let related = diagnostic["relatedInformation"].as_array().expect("related places");
    let one = |one: &Value| {
        let line = one["location"]["range"]["start"]["line"].as_u64().expect("a line");
        (text(&one["location"]["uri"]), line, text(&one["message"]))
    };
    related.iter().map(one).collect()
}

#[test]
fn a_race_is_shown_where_both_threads_are() {
    let mut client = Client::new(None);
    // Two units of UTF-16, one character, four bytes.
    let text = kernel(RACE).replace("\tst.shared.v4", "\t/* \u{1d11e} */ st.shared.v4");
    let uri = uri(&client.write("race.ptx", text.as_bytes()));
    client.open(&uri, "ptx", &text);
    let diagnostics = client.diagnostics(&uri, |diagnostics| !diagnostics.is_empty());
    let [race] = &diagnostics[..] else { panic!("{diagnostics:?}") };
    assert_eq!((race["code"].as_str(), race["severity"].as_u64()), (Some("race"), Some(1)));
    assert_eq!(race["source"], "gpuvcc");
    let message = race["message"].as_str().expect("a message");
    for part in ["race on `s`", "byte offset", "launch: block", "replay: gpuvcc run"] {
        assert!(message.contains(part), "{part}: {message}");
    }
    let (store, load) = (line_of(&text, "st.shared.v4"), line_of(&text, "ldmatrix.sync"));
    assert_eq!(race["range"]["start"]["line"], store);
    let line = text.lines().nth(store).expect("the line of the store");
    let code = line.split("//").next().unwrap_or_default().trim_end();
    assert_eq!(columns(&race["range"]), (1, units(code)));
    let places = related(race);
    let is_load = |(file, line, what): &(String, u64, String)| {
        *file == uri && *line == load as u64 && what.contains("reads 4 bytes")
    };
    assert!(places.iter().any(is_load), "{places:?}");
    // The code is explained where the finding is, and so is the instruction.
    let hover = client.hover(&uri, store, units(line.split("st.").next().unwrap_or_default()) as usize + 4);
    assert!(hover.contains("# race") && hover.contains("st.shared.v4.b32: "), "{hover}");
    let entry = line_of(&text, ".entry");
    assert_eq!(client.lenses(&uri), [(entry as u64, "gpuvcc: race (1 finding)".to_string())]);
    assert_eq!(client.shut_down(), 0);
}

#[test]
fn errors_come_while_one_types_and_verdicts_go() {
    let mut client = Client::new(None);
    let text = kernel(RACE);
    let path = client.write("typed.ptx", text.as_bytes());
    let uri = uri(&path);
    client.open(&uri, "ptx", &text);
    client.diagnostics(&uri, |diagnostics| has_code(diagnostics, "race"));
    client.rest();
    let wrong = text.replace("\tst.shared.v4", "\t/* \u{e9}\u{1d11e} */ st.sharde.v4");
    client.change(&uri, 2, &wrong);
    let diagnostics = client.diagnostics(&uri, |_| true);
    let [error] = &diagnostics[..] else { panic!("{diagnostics:?}") };
    let line = line_of(&wrong, "sharde");
    assert_eq!((error["severity"].as_u64(), error["range"]["start"]["line"].as_u64()), (Some(1), Some(line as u64)));
    let before = wrong.lines().nth(line).and_then(|line| line.split("st.").next()).expect("what is before");
    let (start, end) = columns(&error["range"]);
    assert!(start >= units(before) && end <= units(before) + units("st.sharde.v4.b32"), "{start} to {end}");
    assert!(client.lenses(&uri).is_empty());
    // Right again, but not saved: no verdict is known, and none is made up.
    let right = text.replace("\tst.shared.v4", "\t// changed\n\tst.shared.v4");
    client.change(&uri, 3, &right);
    assert!(client.diagnostics(&uri, |_| true).is_empty());
    assert_eq!(client.lenses(&uri)[0].1, "gpuvcc: save to verify");
    fs::write(&path, &right).expect("saved");
    client.save(&uri);
    let diagnostics = client.diagnostics(&uri, |diagnostics| has_code(diagnostics, "race"));
    assert_eq!(diagnostics[0]["range"]["start"]["line"], line_of(&right, "\tst.shared.v4"));
    // What is closed has no diagnostics.
    client.tell("textDocument/didClose", json!({ "textDocument": { "uri": uri } }));
    assert!(client.diagnostics(&uri, |_| true).is_empty());
    assert_eq!(client.shut_down(), 0);
}

#[test]
fn a_change_ends_the_verification() {
    let mut client = Client::new(None);
    let text = kernel(RACE);
    let uri = uri(&client.write("changed.ptx", text.as_bytes()));
    client.open(&uri, "ptx", &text);
    client.change(&uri, 2, &text.replace("st.shared", "// st.shared"));
    // Another document is verified after it, so that an answer about the first would have come.
    let other = client::uri(&client.write("other.ptx", text.as_bytes()));
    client.open(&other, "ptx", &text);
    let mut seen = Vec::new();
    let start = std::time::Instant::now();
    while !seen.iter().any(|(uri, _)| *uri == other) {
        seen.extend(client.rest().iter().filter_map(|message| {
            let params = &message["params"];
            let all = params["diagnostics"].as_array().filter(|all| has_code(all, "race"))?;
            Some((params["uri"].as_str().expect("a URI").to_string(), all.len()))
        }));
        assert!(start.elapsed() < client::PATIENCE, "no answer");
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
    assert_eq!(seen.len(), 1, "{seen:?}");
    assert_eq!(client.shut_down(), 0);
}

#[test]
fn lenses_have_conditions_and_known_launches() {
    let mut client = Client::new(None);
    let text = kernel("tests/kernels/saxpy.ptx");
    let uri = uri(&client.write("saxpy.ptx", text.as_bytes()));
    client.open(&uri, "ptx", &text);
    let diagnostics = client.diagnostics(&uri, |diagnostics| !diagnostics.is_empty());
    assert_eq!(
        (diagnostics[0]["code"].as_str(), diagnostics[0]["severity"].as_u64()),
        (Some("verified-when"), Some(3))
    );
    let entry = line_of(&text, ".entry saxpy") as u64;
    let lenses = client.lenses(&uri);
    assert_eq!(lenses[0].0, entry);
    assert!(
        lenses[0].1.starts_with("gpuvcc: verified-when: ") && lenses[0].1.contains("blockDim.y == 1"),
        "{lenses:?}"
    );
    client.rest();
    let project = "[[kernel]]\nname = \"saxpy\"\nlaunch = [{ block = [64], grid = [4] }]\n";
    client.write("gpuvcc.toml", project.as_bytes());
    client.save(&uri);
    client.refreshed();
    loop {
        let lenses = client.lenses(&uri);
        if lenses[0].1 == "gpuvcc: verifying" {
            client.refreshed();
            continue;
        }
        assert!(lenses[0].1.starts_with("gpuvcc: verified [block 64, grid 4, "), "{lenses:?}");
        assert!(lenses[0].1.contains("gpuvcc.toml:"), "{lenses:?}");
        break;
    }
    // A verified kernel has no diagnostics.
    assert!(client.rest().iter().all(|message| message["params"]["diagnostics"] == json!([])));
    assert_eq!(client.shut_down(), 0);
}

#[test]
fn hover_is_the_text_of_explain() {
    let mut client = Client::new(None);
    let text = kernel(RACE);
    let uri = uri(&client.write("hover.ptx", text.as_bytes()));
    client.open(&uri, "ptx", &text);
    let line = line_of(&text, "ldmatrix.sync");
    let start = text.lines().nth(line).and_then(|line| line.find("ldmatrix")).expect("its column");
    let opcode = text.lines().nth(line).and_then(|line| line.split_whitespace().next()).expect("its opcode");
    let hover = client.hover(&uri, line, start + 3);
    let told = Command::new(env!("CARGO_BIN_EXE_gpuvcc")).args(["explain", opcode]).output().expect("it explains");
    let told = String::from_utf8(told.stdout).expect("text");
    assert!(told.contains("ldmatrix") && hover.contains(told.trim_end()), "{hover}");
    // A register and a line that is not there mean nothing.
    let register = text.lines().nth(line).and_then(|line| line.find("%r")).expect("a register");
    assert_eq!(client.hover(&uri, line, register + 1), "");
    assert_eq!(client.hover(&uri, 100_000, 7), "");
    assert_eq!(client.hover("file:///not/open.ptx", 0, 0), "");
    assert_eq!(client.shut_down(), 0);
}

#[test]
fn heads_of_loops_tell_what_was_inferred() {
    let mut client = Client::new(None);
    let text = kernel("tests/kernels/reduce_sequential.ptx");
    let uri = uri(&client.write("loop.ptx", text.as_bytes()));
    client.open(&uri, "ptx", &text);
    let label = line_of(&text, "$L__BB0_1:");
    while client.lenses(&uri)[0].1.contains("verifying") {
        client.refreshed();
    }
    let hover = client.hover(&uri, label, 0);
    for part in ["(block *, grid *)", "r9$1 == r9$2  // equality", "!= 0bv32  // power-of-two"] {
        assert!(hover.contains(part), "{part}: {hover}");
    }
    // Neither another line nor a loop of a text that changed since.
    assert_eq!(client.hover(&uri, label - 4, 0), "");
    client.change(&uri, 2, &text.replace("shr.u32", "shr.s32"));
    assert_eq!(client.hover(&uri, label, 0), "");
    assert_eq!(client.shut_down(), 0);
}

#[test]
fn programs_of_the_ivl_are_served() {
    let mut client = Client::new(None);
    let text = "procedure p(x: int)\n{\n  assert x > 0; // \u{fc}\n}\n";
    let uri = uri(&client.write("p.bpl", text.as_bytes()));
    client.open(&uri, "boogie", text);
    let diagnostics = client.diagnostics(&uri, |diagnostics| !diagnostics.is_empty());
    assert!(diagnostics[0]["code"].as_str().is_some_and(|code| code.ends_with("assertion")), "{diagnostics:?}");
    assert_eq!((&diagnostics[0]["range"]["start"]["line"], columns(&diagnostics[0]["range"])), (&json!(2), (2, 15)));
    assert_eq!(client.lenses(&uri)[0].0, 0);
    // Without a file there are errors, but no verdict.
    let wrong = "procedure /* \u{1d11e} */ p(x: int) { assert x; }\n";
    client.open("untitled:Untitled-1", "ivl", wrong);
    let diagnostics = client.diagnostics("untitled:Untitled-1", |_| true);
    let start = units(wrong.split("x;").next().unwrap_or_default());
    assert_eq!(columns(&diagnostics[0]["range"]), (start, start + 1), "{diagnostics:?}");
    assert_eq!(client.shut_down(), 0);
}

#[cfg(unix)]
#[test]
fn cuda_source_is_compiled() {
    use std::os::unix::fs::PermissionsExt;

    let name = "reduce_last_warp_broken";
    let text = kernel(&format!("tests/kernels/{name}.cu"));
    let tools = tempfile::TempDir::new().expect("a folder");
    // A compiler is what has its name and writes PTX: here that which nvcc wrote of this file.
    let ptx = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("tests/kernels/{name}.ptx"));
    let script = format!(
        "#!/bin/sh\nif grep -q refused \"$5\"; then echo \"$5(3): error: refused\" >&2; exit 1; fi\ncp '{}' \"$4\"\n",
        ptx.display()
    );
    let compiler = tools.path().join("nvcc");
    fs::write(&compiler, script).expect("a script");
    fs::set_permissions(&compiler, fs::Permissions::from_mode(0o755)).expect("its mode");
    let mut client = Client::new(Some(&format!("{}:/usr/bin:/bin", tools.path().display())));
    let path = client.write(&format!("{name}.cu"), text.as_bytes());
    let uri = uri(&path);
    client.open(&uri, "cuda-cpp", &text);
    assert_eq!(client.lenses(&uri)[0], (line_of(&text, "__global__") as u64, "gpuvcc: verifying".to_string()));
    let diagnostics = client.diagnostics(&uri, |diagnostics| !diagnostics.is_empty());
    let (first, second) = (line_of(&text, "t < 16"), line_of(&text, "t < 8"));
    let race = &diagnostics[0];
    assert_eq!((race["code"].as_str(), &race["range"]["start"]["line"]), (Some("race"), &json!(second)));
    let places = related(race);
    let is_first = |(file, line, what): &(String, u64, String)| {
        *file == uri && *line == first as u64 && what.contains("writes 4 bytes")
    };
    assert!(places.iter().any(is_first), "{places:?}");
    assert_eq!(client.lenses(&uri)[0].0, line_of(&text, "__global__") as u64);
    // Errors of the compiler are where it says.
    let refused = text.replace("extern", "/* refused */ extern");
    fs::write(&path, &refused).expect("saved");
    client.change(&uri, 2, &refused);
    client.save(&uri);
    let diagnostics = client.diagnostics(&uri, |diagnostics| has_code(diagnostics, "compiler"));
    assert_eq!(
        (diagnostics[0]["message"].as_str(), &diagnostics[0]["range"]["start"]["line"]),
        (Some("refused"), &json!(2))
    );
    assert_eq!(client.shut_down(), 0);
    // Without a compiler it says so, and how to go on.
    let nothing = tempfile::TempDir::new().expect("a folder");
    let mut client = Client::new(Some(&nothing.path().display().to_string()));
    let uri = client::uri(&client.write("k.cu", text.as_bytes()));
    client.open(&uri, "cuda-cpp", &text);
    let diagnostics = client.diagnostics(&uri, |diagnostics| has_code(diagnostics, "compiler"));
    assert!(diagnostics[0]["message"].as_str().is_some_and(|message| message.contains("nvcc -ptx")), "{diagnostics:?}");
    assert_eq!(client.shut_down(), 0);
}

#[test]
fn source_lines_are_related_to_those_of_ptx() {
    let mut client = Client::new(None);
    let source = kernel("tests/kernels/reduce_last_warp_broken.cu");
    let text = kernel("tests/kernels/reduce_last_warp_broken.ptx");
    let source_uri = uri(&client.write("reduce_last_warp_broken.cu", source.as_bytes()));
    let uri = uri(&client.write("k.ptx", text.as_bytes()));
    client.open(&uri, "ptx", &text);
    let diagnostics = client.diagnostics(&uri, |diagnostics| !diagnostics.is_empty());
    let lines: Vec<u64> =
        related(&diagnostics[0]).iter().filter(|(file, ..)| *file == source_uri).map(|(_, line, _)| *line).collect();
    assert_eq!(lines, [line_of(&source, "t < 8") as u64, line_of(&source, "t < 16") as u64]);
    assert_eq!(client.shut_down(), 0);
}

#[test]
fn nothing_ends_the_server_but_the_client() {
    let mut client = Client::uninitialised(None);
    assert_eq!(client.ask("textDocument/hover", json!({}))["code"], -32002);
    client.tell("textDocument/didOpen", json!({}));
    assert_eq!(client.ask("initialize", json!({ "capabilities": 7 }))["code"], -32602);
    assert!(client.ask("initialize", json!({ "capabilities": {} }))["capabilities"].is_object());
    assert_eq!(client.ask("initialize", json!({ "capabilities": {} }))["code"], -32600);
    for wild in [
        &b"Content-Length: 4\r\n\r\n\xff\xfe{]"[..],
        b"Content-Length: 2\r\n\r\n[]",
        b"Content-Length: minus one\r\n\r\n",
        b"Content-Length: 18446744073709551615\r\n\r\n",
        b"hello?\r\n\r\n",
        b"\x00\x01\x02",
    ] {
        client.say(wild);
    }
    let nested = format!("{}{}", "[".repeat(100_000), "]".repeat(100_000));
    client.say(format!("Content-Length: {}\r\n\r\n{nested}", nested.len()).as_bytes());
    assert_eq!(client.ask("textDocument/rename", json!({}))["code"], -32601);
    assert_eq!(client.ask("textDocument/hover", json!({ "textDocument": 1 }))["code"], -32602);
    client.tell("textDocument/didOpen", json!({ "textDocument": { "uri": 1 } }));
    client.tell("textDocument/didSave", json!({ "textDocument": { "uri": "file:///not/open.ptx" } }));
    client.change("file:///not/open.ptx", 2, "");
    // A file that is no text: what an editor makes of it is not what it has.
    let bytes = b"// \xff\n.version 8.0\n.target sm_80\n.address_size 64\n";
    let uri = uri(&client.write("bytes.ptx", bytes));
    client.open(&uri, "ptx", &String::from_utf8_lossy(bytes));
    let diagnostics = client.diagnostics(&uri, |diagnostics| !diagnostics.is_empty());
    assert!(diagnostics[0]["message"].as_str().is_some_and(|message| message.contains("UTF-8")), "{diagnostics:?}");
    client.change(&uri, 2, "\u{0}\u{feff}\u{1d11e}.version");
    assert!(!client.diagnostics(&uri, |_| true).is_empty());
    client.change(&uri, 3, &"(".repeat(100_000));
    assert!(!client.diagnostics(&uri, |_| true).is_empty());
    assert_eq!(client.shut_down(), 0);
    // Who leaves without a word is not waited for.
    assert_eq!(Client::new(None).hang_up(), 1);
    let mut client = Client::new(None);
    client.tell("exit", Value::Null);
    assert_eq!(client.ended(), 1);
}

#[test]
fn the_extension_is_about_the_languages_that_are_served() {
    let manifest: Value = serde_json::from_str(&kernel("editors/vscode/package.json")).expect("JSON");
    let script = kernel("editors/vscode/extension.js");
    let mut client = Client::new(None);
    let languages = manifest["contributes"]["languages"].as_array().expect("languages");
    assert_eq!(languages.len(), 4);
    for language in languages {
        let id = language["id"].as_str().expect("an identifier");
        assert!(script.contains(&format!("\"{id}\"")), "{id}");
        // Whatever is served has lenses or diagnostics: here a text that is wrong, or has a kernel.
        let uri = format!("file:///not/there/k{}", language["extensions"][0].as_str().expect("an extension"));
        client.open(&uri, id, "__global__ void k(int* a) {}\n");
        let diagnostics = client.diagnostics(&uri, |_| true);
        assert!(!diagnostics.is_empty() || client.lenses(&uri).len() == 1, "{id}");
    }
    assert_eq!(manifest["main"], "./extension.js");
    assert_eq!(client.shut_down(), 0);
}
