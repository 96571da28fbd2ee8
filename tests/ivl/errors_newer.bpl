//@ error 19:1 ivl-subset: an algebraic data type: outside the subset of Boogie that is supported
//@ error 21:14 ivl-subset: `uses`: outside the subset of Boogie that is supported
//@ error 22:25 ivl-subset: `uses`: outside the subset of Boogie that is supported
//@ error 24:1 ivl-subset: `pure`: outside the subset of Boogie that is supported
//@ error 25:37 ivl-subset: the test `is` of a data type: outside the subset of Boogie that is supported
//@ error 26:37 ivl-subset: a field `->` of a data type: outside the subset of Boogie that is supported
//@ error 27:31 ivl-subset: a field `->` of a data type: outside the subset of Boogie that is supported
//@ error 28:45 ivl-subset: the unpacking of a data type: outside the subset of Boogie that is supported
//@ error 29:34 ivl-subset: `hide`: outside the subset of Boogie that is supported
//@ error 30:23 ivl-subset: `reveal`: outside the subset of Boogie that is supported
//@ error 31:25 ivl-subset: `push`: outside the subset of Boogie that is supported
//@ error 32:31 ivl-subset: `pop`: outside the subset of Boogie that is supported
//@ error 33:26 ivl-subset: an attribute of `goto`: outside the subset of Boogie that is supported
//@ error 34:27 ivl-subset: an attribute of `if`: outside the subset of Boogie that is supported
//@ error 35:27 ivl-subset: an attribute of `while`: outside the subset of Boogie that is supported
//@ error 36:31 ivl-subset: an attribute of `return`: outside the subset of Boogie that is supported
//@ error 37:43 ivl-subset: an attribute of `havoc`: outside the subset of Boogie that is supported
// Features of later versions of Boogie, one a line.
datatype Pair { Pair(x: int, y: int) }
pure function f(x: int): int;
const c: int uses { axiom c > 0; axiom c < 9; }
function g(x: int): int uses { axiom (forall x: int :: g(x) > 0); }
const after: int;
pure procedure lemma();
procedure tests(p: Pair) { assert p is Pair; }
procedure fields(p: Pair) { assert p->x == 3; }
procedure updates(p: Pair) { p->x := 3; }
procedure unpacks(p: Pair) { var a, b: int; Pair(a, b) := p; }
procedure hides() { assume true; hide f; }
procedure reveals() { reveal f; }
procedure scopes() { L: push; }
procedure ends() { if (*) { } pop; }
procedure jumps() { goto {:a} L; L: }
procedure branches() { if {:a} (*) { } }
procedure loops() { while {:a} (*) { } }
procedure returns_() { return {:a}; }
procedure arbitrary() { var x: int; havoc {:a} x; }
