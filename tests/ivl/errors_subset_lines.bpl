//@ error 3:1 ivl-subset: the pragma `#line`: outside the subset of Boogie that is supported
// The pragma that renumbers lines.
#line 100 other.bpl
procedure p() { }
