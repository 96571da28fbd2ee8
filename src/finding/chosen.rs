//! What of a finding the tool chose, and what was given.
//!
//! Input: a report and one of its findings. Output: the names of sizes and parameters. Establishes: what an execution
//! of the user's own launch shows is never called chosen. Relies on: `KernelReport::launch` is free where the tool chose.

use super::{Finding, KernelReport};

impl KernelReport {
    /// `block`, `grid` and the parameters whose values in the finding are the tool's own choice.
    pub(crate) fn chosen<'a>(&self, finding: &'a Finding) -> Vec<&'a str> {
        // `gpuvcc run` takes its launch from the command line.
        if self.execution.is_some() {
            return Vec::new();
        }
        let is_free = |sizes: &[Option<u32>; 3]| finding.launch.is_some() && sizes.contains(&None);
        let sizes = [("block", is_free(&self.launch.block)), ("grid", is_free(&self.launch.grid))];
        let sizes = sizes.into_iter().filter(|(_, free)| *free).map(|(name, _)| name);
        let parameters = finding.params.keys().map(String::as_str).filter(|name| !self.given.contains(*name));
        sizes.chain(parameters).collect()
    }
}
