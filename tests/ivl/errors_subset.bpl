//@ error 17:11 ivl-subset: type parameters
//@ error 18:8 ivl-subset: `lambda`
//@ error 19:16 ivl-subset: type parameters
//@ error 20:8 ivl-subset: type parameters
//@ error 21:7 ivl-subset: a real number
//@ error 21:11 ivl-subset: the division of reals
//@ error 22:9 ivl-subset: the partial order
//@ error 23:15 ivl-subset: `extends`
//@ error 24:6 ivl-subset: `finite`
//@ error 25:7 ivl-subset: a code expression
//@ error 26:7 ivl-subset: a `var` expression
//@ error 28:8 ivl-subset: a wildcard
//@ error 29:3 ivl-subset: `yield`
//@ error 29:10 ivl-subset: `par`
//@ error 30:12 ivl-subset: an integer literal
//@ error 32:12 ivl-syntax: unexpected `;`
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
