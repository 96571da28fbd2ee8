//@ error 21:11 ivl-subset: type parameters
//@ error 22:8 ivl-subset: `lambda`
//@ error 23:16 ivl-subset: type parameters
//@ error 24:8 ivl-subset: type parameters
//@ error 25:7 ivl-subset: a real number
//@ error 25:11 ivl-subset: the division of reals
//@ error 25:13 ivl-subset: a real number
//@ error 26:9 ivl-subset: the partial order
//@ error 27:15 ivl-subset: `extends`
//@ error 28:6 ivl-subset: `finite`
//@ error 29:7 ivl-subset: a code expression
//@ error 30:7 ivl-subset: a `var` expression
//@ error 32:8 ivl-subset: a wildcard
//@ error 33:3 ivl-subset: `yield`
//@ error 33:10 ivl-subset: `par`
//@ error 34:14 ivl-subset: an integer literal
//@ error 36:11 ivl-syntax: unexpected `]`
//@ error 37:6 ivl-subset: an algebraic data type
//@ error 38:5 ivl-subset: a layer of Civl
//@ error 39:16 ivl-subset: a linear variable
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
type {:datatype} Pair;
var {:layer 0, 1} layered: int;
procedure owns({:linear "tid"} x: int) { }
