//@ error 18:11 ivl-subset: type parameters
//@ error 19:8 ivl-subset: `lambda`
//@ error 20:16 ivl-subset: type parameters
//@ error 21:8 ivl-subset: type parameters
//@ error 22:7 ivl-subset: a real number
//@ error 22:11 ivl-subset: the division of reals
//@ error 22:13 ivl-subset: a real number
//@ error 23:9 ivl-subset: the partial order
//@ error 24:15 ivl-subset: `extends`
//@ error 25:6 ivl-subset: `finite`
//@ error 26:7 ivl-subset: a code expression
//@ error 27:7 ivl-subset: a `var` expression
//@ error 29:8 ivl-subset: a wildcard
//@ error 30:3 ivl-subset: `yield`
//@ error 30:10 ivl-subset: `par`
//@ error 31:14 ivl-subset: an integer literal
//@ error 33:11 ivl-syntax: unexpected `]`
function f<a>(x: a): a;
axiom (lambda x: int :: x)[1] == 1;
axiom ((forall <b> y: b :: true));
var m: <a>[a]int;
axiom 1.5 / 2e1 == 0;
axiom 1 <: 2;
const a: int, extends;
type finite T;
axiom |{ A: return true; }|;
axiom (var z := 1; z) == 1;
procedure p() {
  call *, n := q(1);
  yield; par q(1);
  assume 0 < 170141183460469231731687303715884105728;
}
const n: [];
