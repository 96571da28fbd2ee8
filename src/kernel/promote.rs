//! placeholder
use crate::cfg::graph::Cfg;
pub fn run(cfg: &Cfg) -> Cfg {
    cfg.clone()
}
