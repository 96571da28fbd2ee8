//@ error 12:1 ivl-subset: `hideable`: outside the subset of Boogie that is supported
//@ error 13:28 ivl-subset: `measure`: outside the subset of Boogie that is supported
//@ error 14:25 ivl-subset: `preserves`: outside the subset of Boogie that is supported
//@ error 15:31 ivl-subset: a `call` in a contract: outside the subset of Boogie that is supported
//@ error 16:24 ivl-subset: an `invariant` of a procedure: outside the subset of Boogie that is supported
//@ error 18:22 ivl-subset: `refines`: outside the subset of Boogie that is supported
//@ error 19:37 ivl-subset: a parallel call `|`: outside the subset of Boogie that is supported
//@ error 20:35 ivl-subset: a rounding mode: outside the subset of Boogie that is supported
//@ error 21:34 ivl-subset: the conversion `int`: outside the subset of Boogie that is supported
// Features of later versions of Boogie that are about contracts and threads, one a line.
const before: int;
hideable axiom true;
procedure measured(x: int) measure x; { }
procedure preserving(); preserves true;
procedure calling(); requires call lemma();
procedure invariants() invariant true; { }
atomic action A() { }
procedure refining() refines A; { }
procedure together() { call lemma() | lemma(); }
procedure rounds(r: int) { assert RNE == r; }
procedure whole(r: int) { assert int(r) == r; }
