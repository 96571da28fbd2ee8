//! What tells a finding from others, whatever lines come and go around it.
//!
//! Input: a report. Output: an [`Identity`] of each finding, and of a verdict without findings, with its fingerprint.
//! Establishes: a fingerprint depends on what the identity holds and on nothing else: no line number, no register, no
//! value, no launch, no folder. Relies on: nothing.
//! Reference: SARIF 2.1.0, "partialFingerprints property"; RFC 9923 (FNV-1a).
//!
//! The recipe: the lines `gpuvcc/1`, the name of the kernel as its author reads it, the code, the array (or nothing), the
//! ordinal among identities that are otherwise equal (from 0, in the order of the report), and then, sorted, the lines that
//! it is about. Such a line is the one of the source if it is at hand, otherwise the instruction of the PTX; both without
//! indentation, remark and numbers of registers ([`plain`]). The fingerprint is the 64-bit FNV-1a hash of these, each with a
//! line end, as 16 hexadecimal digits.

use super::json::InputError;
use super::source::{SourceFiles, SourceText};
use crate::diagnostic::Diagnostic;
use crate::finding::{Finding, KernelReport, Reason, Verdict};
use crate::ptx::mangled;
use crate::span::Origin;

/// What tells a finding from others.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Identity {
    /// The kernel as its author reads it.
    pub(crate) kernel: String,
    /// Stable code.
    pub(crate) code: &'static str,
    pub(crate) array: Option<String>,
    /// The text of each line that it is about, sorted.
    pub(crate) lines: Vec<String>,
    /// Among those that are otherwise equal.
    pub(crate) ordinal: usize,
}

impl Identity {
    fn new(kernel: &str, code: &'static str, array: Option<&str>, mut lines: Vec<String>) -> Self {
        lines.sort_unstable();
        Identity { kernel: mangled::shown(kernel), code, array: array.map(str::to_string), lines, ordinal: 0 }
    }

    /// 16 hexadecimal digits.
    pub(crate) fn fingerprint(&self) -> String {
        self.with_code(self.code)
    }

    /// The fingerprint of the same defect where an execution shows it; the own one unless it is only possible.
    pub(crate) fn when_confirmed(&self) -> String {
        self.with_code(self.code.strip_prefix("possible-").unwrap_or(self.code))
    }

    fn with_code(&self, code: &str) -> String {
        let ordinal = self.ordinal.to_string();
        let head = ["gpuvcc/1", &self.kernel, code, self.array.as_deref().unwrap_or_default(), &ordinal];
        let lines = head.into_iter().chain(self.lines.iter().map(String::as_str));
        let text: String = lines.flat_map(|line| [line, "\n"]).collect();
        format!("{:016x}", fnv_1a(text.as_bytes()))
    }
}

/// The identities of all that a report says.
pub(crate) struct Identities {
    /// Of each finding.
    pub(crate) findings: Vec<Identity>,
    /// Of each reason.
    pub(crate) reasons: Vec<Identity>,
    /// Of each diagnostic.
    pub(crate) diagnostics: Vec<Identity>,
    /// Of a verdict that no finding explains: `verified-when`, `unknown`, `unsupported`.
    pub(crate) verdict: Option<Identity>,
}

impl Identities {
    /// `input` is the text of the report's file.
    pub(crate) fn of(report: &KernelReport, input: &SourceText, files: &mut SourceFiles) -> Self {
        let findings = report.findings.iter().map(|found| finding(found, report, input, files)).collect();
        let reasons: Vec<_> = report.reasons.iter().map(|given| reason(given, report, input, files)).collect();
        let diagnostics: Vec<_> = report.diagnostics.iter().map(|given| diagnostic(given, report, input)).collect();
        let why = reasons.iter().chain(&diagnostics).map(|each| format!("{}: {}", each.code, each.lines.join("; ")));
        let lines = match report.verdict {
            Verdict::VerifiedWhen => Some(report.conditions.clone()),
            Verdict::Unknown | Verdict::Unsupported => Some(why.collect()),
            _ => None,
        };
        let verdict = lines.map(|lines| Identity::new(&report.entry, report.verdict.name(), None, lines));
        Identities {
            findings: with_ordinals(findings),
            reasons: with_ordinals(reasons),
            diagnostics: with_ordinals(diagnostics),
            verdict,
        }
    }
}

impl Identities {
    /// That of a defect outside of what the conditions allow.
    pub(crate) fn of_outside(
        found: &Finding,
        report: &KernelReport,
        input: &SourceText,
        files: &mut SourceFiles,
    ) -> Identity {
        finding(found, report, input, files)
    }
}

/// That of an input error: it names a file, and what is wrong with it.
pub(crate) fn of_input_error(error: &InputError) -> Identity {
    let lines = vec![error.file.clone(), error.message.clone()];
    Identity::new(error.entry.as_deref().unwrap_or_default(), error.code, None, lines)
}

fn finding(finding: &Finding, report: &KernelReport, input: &SourceText, files: &mut SourceFiles) -> Identity {
    let places = finding.barrier.iter().chain(finding.accesses.iter().map(|access| &access.origin));
    let lines = places.map(|origin| line_of(origin, input, files)).collect();
    Identity::new(&report.entry, finding.code(), finding.array.as_deref(), lines)
}

fn reason(reason: &Reason, report: &KernelReport, input: &SourceText, files: &mut SourceFiles) -> Identity {
    let lines = reason.origin.iter().map(|origin| line_of(origin, input, files)).collect();
    Identity::new(&report.entry, reason.code, None, lines)
}

fn diagnostic(diagnostic: &Diagnostic, report: &KernelReport, input: &SourceText) -> Identity {
    let place = input.place_of(diagnostic);
    let lines = place.map(|(line, _)| plain(&input.text()[input.line(line - 1)])).into_iter().collect();
    Identity::new(&report.entry, diagnostic.code, None, lines)
}

fn with_ordinals(mut identities: Vec<Identity>) -> Vec<Identity> {
    for index in 0..identities.len() {
        let (before, rest) = identities.split_at_mut(index);
        let same = |other: &&Identity| Identity { ordinal: 0, ..(*other).clone() } == rest[0];
        rest[0].ordinal = before.iter().filter(same).count();
    }
    identities
}

/// The line of the source if it is at hand, otherwise the instruction.
fn line_of(origin: &Origin, input: &SourceText, files: &mut SourceFiles) -> String {
    let source = origin.position.as_ref().and_then(|position| source_line(position.own(), files));
    let instruction = || Some(plain(&origin.text)).filter(|text| !text.is_empty());
    let line = || plain(&input.text()[input.line((origin.line as usize).saturating_sub(1))]);
    source.or_else(instruction).unwrap_or_else(line)
}

/// The text of a line of a source that is at hand.
pub(crate) fn source_line(position: &crate::span::SourcePosition, files: &mut SourceFiles) -> Option<String> {
    let (file, _) = files.place(position)?;
    let index = (position.line as usize).checked_sub(1)?;
    Some(plain(&file.text()[file.line(index)]))
}

/// A line without indentation, without a remark at its end, and without the numbers of registers, which change with any
/// other line.
pub(crate) fn plain(line: &str) -> String {
    let code = line.split_once("//").map_or(line, |(code, _)| code);
    let words: Vec<&str> = code.split_whitespace().collect();
    let (mut plain, mut is_register) = (String::new(), false);
    for character in words.join(" ").chars() {
        is_register = character == '%' || is_register && character.is_ascii_alphanumeric();
        if !(is_register && character.is_ascii_digit()) {
            plain.push(character);
        }
    }
    plain
}

/// The 64-bit hash FNV-1a (RFC 9923).
pub(crate) fn fnv_1a(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(*byte)).wrapping_mul(0x100_0000_01b3))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The vectors of RFC 9923.
    #[test]
    fn the_hash_is_the_published_one() {
        assert_eq!(fnv_1a(b""), 0xcbf2_9ce4_8422_2325);
        assert_eq!(fnv_1a(b"a"), 0xaf63_dc4c_8601_ec8c);
        assert_eq!(fnv_1a(b"foobar"), 0x8594_4171_f739_67e8);
    }

    /// Baselines that people keep hold these numbers: they must not change.
    #[test]
    fn the_recipe_is_fixed() {
        let lines = vec!["s[t] += s[t + d];".to_string(), "if (t <= d)".to_string()];
        let identity = Identity::new("_Z4scanPf", "possible-race", Some("s"), lines);
        assert_eq!(identity.kernel, "scan(float*)");
        let text = "gpuvcc/1\nscan(float*)\npossible-race\ns\n0\nif (t <= d)\ns[t] += s[t + d];\n";
        assert_eq!(identity.fingerprint(), format!("{:016x}", fnv_1a(text.as_bytes())));
        let confirmed = Identity { code: "race", ..identity.clone() };
        assert_eq!(identity.when_confirmed(), confirmed.fingerprint());
        assert_eq!(confirmed.when_confirmed(), confirmed.fingerprint());
        let two = with_ordinals(vec![identity.clone(), confirmed, identity]);
        assert_eq!(two.iter().map(|each| each.ordinal).collect::<Vec<_>>(), [0, 0, 1]);
    }

    #[test]
    fn lines_are_plain() {
        assert_eq!(plain("   s[t]  += 1;   // RACE"), "s[t] += 1;");
        assert_eq!(plain("\tst.global.f32 \t[%rd7+16], %f8;"), "st.global.f32 [%rd+16], %f;");
    }
}
