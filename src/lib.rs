//! Proves that a PTX kernel has no data race and no barrier divergence.
