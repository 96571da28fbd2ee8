//! What Triton writes beside the PTX of a kernel: the launch that it was compiled for.
//!
//! Input: the JSON text. Output: [`TritonLaunch`]; `None` for other JSON. Establishes: a block that GPUs can launch.
//! Reference: Triton's compiler, `metadata` of the CUDA backend.

use crate::geometry::{BLOCK_THREADS, WARP_THREADS};
use serde_json::Value;

/// Dynamic shared memory at most, in bytes; no GPU has that much.
pub(crate) const LARGEST_SHARED: u32 = 1 << 20;

/// The launch of a Triton kernel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct TritonLaunch {
    /// The kernel; `None`: all of the module.
    pub(crate) kernel: Option<String>,
    /// Warps of a block.
    pub(crate) warps: u32,
    /// Dynamic shared memory, in bytes, if the file says it.
    pub(crate) shared_bytes: Option<u32>,
    /// Blocks of a cluster.
    pub(crate) cluster: [u32; 3],
}

impl TritonLaunch {
    /// Threads of a block.
    pub(crate) fn block(&self) -> [u32; 3] {
        [self.warps * WARP_THREADS, 1, 1]
    }

    /// Whether it is about a kernel.
    pub(crate) fn is_for(&self, entry: &str) -> bool {
        self.kernel.as_deref().is_none_or(|kernel| kernel == entry)
    }

    /// Whether blocks are launched in clusters.
    pub(crate) fn has_clusters(&self) -> bool {
        self.cluster != [1; 3]
    }
}

/// Reads the file; `None`: JSON about something else, or no JSON.
///
/// # Errors
/// A launch that does not exist: one sentence, lower case, no full stop.
pub(crate) fn launch(text: &str) -> Result<Option<TritonLaunch>, String> {
    let Ok(Value::Object(fields)) = serde_json::from_str(text) else { return Ok(None) };
    let Some(warps) = fields.get("num_warps") else { return Ok(None) };
    let warps = warps.as_u64().filter(|warps| (1..=u64::from(BLOCK_THREADS / WARP_THREADS)).contains(warps));
    let warps = warps.ok_or_else(|| format!("num_warps is {}, not 1 to 32", fields["num_warps"]))?;
    let warp_size = fields.get("target").and_then(|target| target.get("warp_size"));
    if let Some(size) = warp_size.filter(|size| size.as_u64() != Some(u64::from(WARP_THREADS))) {
        return Err(format!("warp_size is {size}, not 32"));
    }
    let number = |name: &str| match fields.get(name) {
        None | Some(Value::Null) => Ok(None),
        Some(value) => small(value).map(Some).ok_or_else(|| format!("{name} is {value}")),
    };
    let shared_bytes = number("shared")?;
    if let Some(bytes) = shared_bytes.filter(|bytes| *bytes > LARGEST_SHARED) {
        return Err(format!("shared is {bytes}, more than {LARGEST_SHARED}"));
    }
    let cluster = match fields.get("cluster_dims") {
        // Later versions write the blocks of a cluster instead.
        None | Some(Value::Null) => [number("num_ctas")?.unwrap_or(1), 1, 1],
        Some(dimensions) => cluster(dimensions).ok_or_else(|| format!("cluster_dims is {dimensions}"))?,
    };
    Ok(Some(TritonLaunch {
        kernel: fields.get("name").and_then(Value::as_str).map(str::to_string),
        warps: warps as u32,
        shared_bytes,
        cluster,
    }))
}

fn small(value: &Value) -> Option<u32> {
    value.as_u64().and_then(|number| u32::try_from(number).ok())
}

fn cluster(dimensions: &Value) -> Option<[u32; 3]> {
    let sizes: Option<Vec<u32>> = dimensions.as_array()?.iter().map(small).collect();
    let sizes: [u32; 3] = sizes?.try_into().ok()?;
    sizes.iter().all(|&size| size > 0).then_some(sizes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_what_triton_writes() {
        let text = r#"{"target": {"backend": "cuda", "arch": 90, "warp_size": 32}, "num_warps": 4,
                       "shared": 512, "cluster_dims": [2, 1, 1], "name": "add"}"#;
        let expected =
            TritonLaunch { kernel: Some("add".to_string()), warps: 4, shared_bytes: Some(512), cluster: [2, 1, 1] };
        assert_eq!(launch(text), Ok(Some(expected)));
        let later = launch(r#"{"num_warps": 8, "num_ctas": 1}"#).ok().flatten();
        assert!(later.is_some_and(|launch| launch.block() == [256, 1, 1] && !launch.has_clusters()));
    }

    #[test]
    fn other_files_say_nothing_and_launches_that_do_not_exist_are_errors() {
        for text in ["", "[]", "{", "{\"warps\": 4}", "\"num_warps\""] {
            assert_eq!(launch(text), Ok(None), "{text}");
        }
        for text in [
            r#"{"num_warps": 0}"#,
            r#"{"num_warps": 33}"#,
            r#"{"num_warps": "4"}"#,
            r#"{"num_warps": 4, "shared": -1}"#,
            r#"{"num_warps": 4, "shared": 1048577}"#,
            r#"{"num_warps": 4, "cluster_dims": [0, 1, 1]}"#,
            r#"{"num_warps": 4, "target": {"warp_size": 64}}"#,
        ] {
            assert!(launch(text).is_err(), "{text}");
        }
    }
}
