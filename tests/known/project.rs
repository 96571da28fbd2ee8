//! `gpuvcc.toml`.

use super::ptx;
use super::support::{Entry, check, folder, gpuvcc_in, write};

const PROJECT: &str = r#"
[[kernel]]
name = "matmul_*"

[[kernel.launch]]
block = [16, 16]
grid = [6, 6]
params = { 0 = 96 }

[[kernel.launch]]
block = [16, 16]
grid = [7, 7]
params = { 0 = "100" }
"#;

/// The file of the repository is found from a folder below it; that of a folder above the repository is not.
#[test]
fn launches_of_the_project() {
    let folder = folder();
    write(&folder, "repository/.git/HEAD", "");
    write(&folder, "repository/gpuvcc.toml", PROJECT);
    write(&folder, "repository/below/k.ptx", &ptx("matmul_naive_broken"));
    let ran = gpuvcc_in(&folder, &["repository/below/k.ptx"]);
    let whole = Entry::new("verified", ("16,16,1", "6,6,1", "param_0=96"));
    let ragged = Entry::new("race", ("16,16,1", "7,7,1", "param_0=100")).at(14);
    check(&ran, 1, &[whole, ragged]);
    let from = ran.json["kernels"][1]["launched"]["from"].to_string();
    assert!(from.ends_with("repository/gpuvcc.toml:10\""), "{from}");
    // The command line wins.
    let sizes = ["--block", "16,16", "--grid", "6,6", "--param", "0=96"];
    let ran = gpuvcc_in(&folder, &[&["repository/below/k.ptx"], &sizes[..]].concat());
    check(&ran, 0, &[Entry::new("verified", ("16,16,1", "6,6,1", "")).of_no_file()]);
    write(&folder, "gpuvcc.toml", "not read");
    std::fs::remove_file(folder.path().join("repository/gpuvcc.toml")).expect("a file");
    let ran = gpuvcc_in(&folder, &[&["repository/below/k.ptx"], &sizes[..]].concat());
    check(&ran, 0, &[Entry::new("verified", ("16,16,1", "6,6,1", "")).of_no_file()]);
}

/// What the project requires is assumed, and the report says where it stands.
#[test]
fn requirements_of_the_project() {
    let folder = folder();
    write(&folder, "k.ptx", &ptx("matmul_naive_broken"));
    let launch = "[[kernel.launch]]\nblock = [16, 16]\ngrid = [6, 6]\n";
    let project = |requires: &str| format!("[[kernel]]\nname = \"matmul_naive\"\nrequires = [{requires}]\n{launch}");
    write(&folder, "p.toml", &project("\"[matmul_naive_param_0] == 96\""));
    let ran = gpuvcc_in(&folder, &["k.ptx", "--project", "p.toml"]);
    check(&ran, 0, &[Entry::new("verified", ("16,16,1", "6,6,1", "")).from("p.toml:4")]);
    let said = ran.json["kernels"][0]["assumptions"].to_string();
    assert!(said.contains("requires [matmul_naive_param_0] == 96") && said.contains("p.toml:3"), "{said}");
    // Without it threads beside the matrix write into it.
    write(&folder, "p.toml", &project(""));
    check(&gpuvcc_in(&folder, &["k.ptx", "--project", "p.toml"]), 1, &[Entry::new("race", ("16,16,1", "6,6,1", ""))]);
}

#[test]
fn mistakes_are_errors_at_their_place() {
    let folder = folder();
    write(&folder, "k.ptx", &ptx("matmul_naive"));
    for (text, message, place) in [
        ("[[kernel]]\nname = 3", "invalid type", "gpuvcc.toml:2:8"),
        ("[[kernel]]\nname = \"k\"\nblocks = 3", "unknown field", "gpuvcc.toml:3:1"),
        ("[[kernel]\n", "", "gpuvcc.toml:1:"),
        ("[[kernel]]\nname = \"[\"", "the pattern of kernels", "gpuvcc.toml:2:8"),
        ("[[kernel]]\nname = \"*\"\nrequires = [\"[m] > 0\"]", "no parameter `m`", "gpuvcc.toml:3:13"),
        ("[[kernel]]\nname = \"*\"\n[[kernel.launch]]\nblock = [2048]", "1024", "gpuvcc.toml:3:"),
        (
            "[[kernel]]\nname = \"*\"\n[[kernel.launch]]\nblock = [1]\nkernel = \"k\"",
            "that of its table",
            "gpuvcc.toml:3:",
        ),
    ] {
        write(&folder, "gpuvcc.toml", text);
        let ran = gpuvcc_in(&folder, &["k.ptx"]);
        assert_eq!(ran.exit, Some(2), "{text}: {}", ran.json);
        assert!(ran.stderr.contains(message) && ran.stderr.contains(place), "{text}: {}", ran.stderr);
        assert!(matches!(ran.json["errors"][0]["code"].as_str(), Some("project")), "{}", ran.stderr);
    }
}
