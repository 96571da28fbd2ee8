//! The book: what it shows is what the program prints, and its pages are linked; so are the other texts of the project.
//!
//! A block `console` of a page in `book/src` is a command behind `$`, its exit code behind `?` unless that is 0, and what it
//! prints. A line `...` stands for any lines, `[..]` for any part of a line. Commands start in the folder of the project.

use libtest_mimic::{Failed, Trial};
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

pub fn trials() -> Vec<Trial> {
    let mut trials = vec![Trial::test("links", links), Trial::test("links of the project", project_links)];
    for page in pages() {
        let text = text(&page);
        trials.extend(examples(&text).into_iter().map(|example| {
            let name = format!("{page}:{}", example.line);
            Trial::test(name, move || example.check())
        }));
    }
    trials
}

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("book/src")
}

fn pages() -> BTreeSet<String> {
    let entries = fs::read_dir(folder()).expect("the pages of the book");
    let names = entries.map(|entry| entry.expect("a page").file_name().to_string_lossy().into_owned());
    names.filter(|name| name.ends_with(".md")).collect()
}

fn text(page: &str) -> String {
    fs::read_to_string(folder().join(page)).expect("a page of text")
}

/// A command and what the page says that it prints.
struct Example {
    line: usize,
    words: Vec<String>,
    exit: i32,
    expected: Vec<String>,
}

fn examples(text: &str) -> Vec<Example> {
    let mut found = Vec::new();
    let mut lines = text.lines().enumerate();
    while let Some((at, line)) = lines.next() {
        if line != "```console" {
            continue;
        }
        let block: Vec<&str> = lines.by_ref().map(|(_, line)| line).take_while(|line| *line != "```").collect();
        let command = block.first().and_then(|line| line.strip_prefix("$ ")).expect("a command in front");
        let code = block.get(1).and_then(|line| line.strip_prefix("? "));
        let exit = code.map_or(0, |code| code.parse().expect("an exit code"));
        let expected = block[1 + usize::from(code.is_some())..].iter().map(ToString::to_string).collect();
        found.push(Example { line: at + 2, words: words(command), exit, expected });
    }
    found
}

/// The words of a command; quotes hold words together.
fn words(command: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    for (i, part) in command.split('\'').enumerate() {
        let mut pieces = if i % 2 == 0 { part.split(' ').collect() } else { vec![part] }.into_iter();
        words.last_mut().expect("a word").push_str(pieces.next().unwrap_or(""));
        words.extend(pieces.map(str::to_string));
    }
    words.retain(|word| !word.is_empty());
    words
}

impl Example {
    fn check(&self) -> Result<(), Failed> {
        assert_eq!(self.words[0], "gpuvcc", "the book runs one program");
        let output = Command::new(env!("CARGO_BIN_EXE_gpuvcc"))
            .args(&self.words[1..])
            .current_dir(env!("CARGO_MANIFEST_DIR"))
            .env_remove("FORCE_COLOR")
            .output()?;
        let printed = format!("{}{}", String::from_utf8(output.stdout)?, String::from_utf8(output.stderr)?);
        let lines: Vec<&str> = printed.trim_end().lines().collect();
        let expected: Vec<&str> = self.expected.iter().map(String::as_str).collect();
        if output.status.code() != Some(self.exit) || !matches(&expected, &lines) {
            let first = expected.iter().find(|line| **line != "..." && !lines.iter().any(|l| line_matches(line, l)));
            let status = output.status;
            return Err(format!("{status}; first line that is not printed: {first:?}\nprinted:\n{printed}").into());
        }
        Ok(())
    }
}

/// Whether lines are as expected, where `...` stands for any.
fn matches(expected: &[&str], lines: &[&str]) -> bool {
    match expected.split_first() {
        None => lines.is_empty(),
        Some((&"...", rest)) => (0..=lines.len()).any(|skipped| matches(rest, &lines[skipped..])),
        Some((first, rest)) => {
            lines.split_first().is_some_and(|(line, lines)| line_matches(first, line) && matches(rest, lines))
        }
    }
}

/// The same for a line, where `[..]` stands for anything.
fn line_matches(expected: &str, line: &str) -> bool {
    match expected.split_once("[..]") {
        None => expected == line,
        Some((start, rest)) => line.strip_prefix(start).is_some_and(|line| {
            let ends = line.char_indices().map(|(at, _)| at).chain([line.len()]);
            ends.into_iter().any(|at| line_matches(rest, &line[at..]))
        }),
    }
}

/// The links of each page lead to a page, and to a heading of it; each page is in the table of contents. Nothing leads out of
/// the folder: mdBook builds these pages and no others, so files of the project are named and not linked.
fn links() -> Result<(), Failed> {
    let pages = pages();
    let mut broken = Vec::new();
    let mut contents = BTreeSet::from(["SUMMARY.md".to_string()]);
    let mut pictures = BTreeSet::new();
    for page in &pages {
        let prose = prose(&text(page));
        pictures.extend(pictures_of(&prose));
        for link in links_of(&prose).into_iter().filter(|link| !link.starts_with("images/")) {
            let (file, heading) = link.split_once('#').unwrap_or((&link, ""));
            let file = if file.is_empty() { page } else { file };
            let is_there = pages.contains(file) && (heading.is_empty() || headings(&text(file)).contains(heading));
            if !is_there {
                broken.push(format!("{page}: {link}"));
            } else if page == "SUMMARY.md" {
                contents.insert(file.to_string());
            }
        }
    }
    assert!(broken.is_empty(), "links that lead nowhere: {broken:?}");
    assert_eq!(contents, pages, "pages of the table of contents, and pages that there are");
    let shown: BTreeSet<String> = fs::read_dir(folder().join("images"))?
        .map(|entry| Ok(format!("images/{}", entry?.file_name().to_string_lossy())))
        .collect::<std::io::Result<_>>()?;
    assert_eq!(pictures, shown, "pictures that the pages show, and pictures that there are");
    Ok(())
}

/// The links of all other texts of the project lead to files, and to headings of them; files that a text of the book or of
/// the project names are there.
fn project_links() -> Result<(), Failed> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut texts = Vec::new();
    find_texts(root, &mut texts)?;
    assert!(texts.len() > 60, "the texts of the project: {}", texts.len());
    let mut broken = Vec::new();
    for path in &texts {
        let (prose, shown) = (prose(&fs::read_to_string(path)?), path.strip_prefix(root)?.display());
        if !path.starts_with(folder()) {
            let links = links_of(&prose);
            let leads = |link: &&String| link.contains("://") || leads_somewhere(path, link);
            broken.extend(links.iter().filter(|link| !leads(link)).map(|link| format!("{shown}: {link}")));
        }
        let is_named = |name: &&str| !names_file(name) || root.join(name.split(':').next().unwrap_or(name)).exists();
        broken.extend(
            code_of(&prose).into_iter().filter(|name| !is_named(name)).map(|name| format!("{shown}: `{name}`")),
        );
    }
    assert!(broken.is_empty(), "links that lead nowhere, and files that are not there: {broken:#?}");
    Ok(())
}

/// Texts below a folder, without those that were built or fetched.
fn find_texts(folder: &Path, texts: &mut Vec<PathBuf>) -> std::io::Result<()> {
    const MADE: [&str; 4] = ["target", "dist", "shared", "node_modules"];
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        if path.is_dir() && !name.starts_with('.') && !MADE.contains(&name.as_str()) {
            find_texts(&path, texts)?;
        } else if name.ends_with(".md") {
            texts.push(path);
        }
    }
    Ok(())
}

/// Whether a link of a text leads to a file that is there, and to a heading of it if it names one.
fn leads_somewhere(text: &Path, link: &str) -> bool {
    let (file, heading) = link.split_once('#').unwrap_or((link, ""));
    let target = if file.is_empty() { text.to_path_buf() } else { text.with_file_name(file) };
    let has_heading = || fs::read_to_string(&target).is_ok_and(|text| headings(&text).contains(heading));
    target.exists() && (heading.is_empty() || has_heading())
}

/// Whether a piece of code is the name of a file or folder of the project: no pattern, and in one of these folders.
fn names_file(code: &str) -> bool {
    const FOLDERS: [&str; 10] =
        ["bazel/", "book/", "docs/", "editors/", "prelude/", "python/", "snapshots/", "src/", "tests/", "tools/"];
    // Kernels and their families are named without the endings of their files.
    let is_kernel = code.starts_with("tests/kernels/") && !code.contains('.');
    let is_pattern = code.contains(['*', '<', ' ', '{', '(']);
    FOLDERS.iter().any(|folder| code.starts_with(folder)) && !is_pattern && !is_kernel
}

/// A page without its blocks of code.
fn prose(text: &str) -> String {
    let mut is_code = false;
    let mut is_prose = |line: &&str| {
        let is_fence = line.trim_start().starts_with("```");
        is_code ^= is_fence;
        !is_fence && !is_code
    };
    text.lines().filter(|line| is_prose(line)).flat_map(|line| [line, "\n"]).collect()
}

/// Pieces of code in prose.
fn code_of(prose: &str) -> Vec<&str> {
    prose.split('`').skip(1).step_by(2).collect()
}

/// Pictures that a page shows.
fn pictures_of(text: &str) -> Vec<String> {
    let shown = text.split("![").skip(1).filter_map(|rest| rest.split_once("](")?.1.split_once(')'));
    shown.map(|(picture, _)| picture.to_string()).collect()
}

/// Links in prose, and where pictures are.
fn links_of(prose: &str) -> Vec<String> {
    let links = prose.split("](").skip(1).filter_map(|rest| rest.split_once(')'));
    links.map(|(link, _)| link.to_string()).collect()
}

/// The headings of a page as links name them.
fn headings(text: &str) -> BTreeSet<String> {
    let prose = prose(text);
    let lines = prose.lines().filter_map(|line| line.strip_prefix('#'));
    let anchor = |line: &str| {
        let kept = line.trim_start_matches('#').trim().chars().filter(|c| c.is_alphanumeric() || " -_".contains(*c));
        kept.flat_map(char::to_lowercase).map(|c| if c == ' ' { '-' } else { c }).collect()
    };
    lines.map(anchor).collect()
}
