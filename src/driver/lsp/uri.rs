//! Files as URIs, and back.
//!
//! Input: a URI, or a path. Output: the other. Establishes: a path becomes the URI that gives it back. Relies on: nothing.
//! Reference: RFC 8089, "The file URI Scheme"; RFC 3986, section 2.

use lsp_types::Uri;
use std::path::{Path, PathBuf};

/// The file of this machine that a URI names; `None` for what is no file, such as a text that was never saved.
pub(super) fn path(uri: &Uri) -> Option<PathBuf> {
    let rest = uri.as_str().strip_prefix("file://")?;
    let (host, path) = rest.split_at(rest.find('/')?);
    if !host.is_empty() && !host.eq_ignore_ascii_case("localhost") {
        return None;
    }
    let path = decode(path.split(['?', '#']).next()?)?;
    // `/c:/kernels`
    let drive = path.strip_prefix('/').filter(|path| cfg!(windows) && path.chars().nth(1) == Some(':'));
    Some(PathBuf::from(drive.unwrap_or(&path)))
}

fn decode(text: &str) -> Option<String> {
    let mut bytes = Vec::new();
    let mut rest = text.bytes();
    while let Some(byte) = rest.next() {
        if byte != b'%' {
            bytes.push(byte);
            continue;
        }
        let mut digit = || char::from(rest.next()?).to_digit(16);
        let (high, low) = (digit()?, digit()?);
        bytes.push(u8::try_from(high * 16 + low).ok()?);
    }
    String::from_utf8(bytes).ok()
}

/// The URI of a file; `None` if its name is no text.
pub(super) fn of(path: &Path) -> Option<Uri> {
    let path = std::path::absolute(path).ok()?;
    let mut text = String::from("file://");
    let path = path.to_str()?.replace('\\', if cfg!(windows) { "/" } else { "\\" });
    if !path.starts_with('/') {
        text.push('/');
    }
    for byte in path.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'/' | b'-' | b'.' | b'_' | b'~' => text.push(char::from(byte)),
            _ => text.push_str(&format!("%{byte:02X}")),
        }
    }
    text.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::{of, path};
    use std::path::Path;

    #[test]
    fn paths_come_back() {
        for name in ["/k.ptx", "/a b/k#1?.ptx", "/mäh/100%.cu"] {
            let uri = of(Path::new(name)).unwrap_or_else(|| panic!("no URI: {name}"));
            assert_eq!(path(&uri).as_deref(), Some(Path::new(name)), "{}", uri.as_str());
        }
    }

    #[test]
    fn what_is_no_file_has_no_path() {
        for text in ["untitled:Untitled-1", "file://elsewhere/k.ptx", "file:///%ff.ptx", "http://a/k.ptx"] {
            let uri = text.parse().unwrap_or_else(|_| panic!("no URI: {text}"));
            assert_eq!(path(&uri), None, "{text}");
        }
    }
}
