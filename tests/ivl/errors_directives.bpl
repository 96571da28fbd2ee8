//@ error 5:1 ivl-syntax: this `#elsif` belongs to no `#if`
// Directives that do not fit together.
#if A
#else
#elsif B
#endif
