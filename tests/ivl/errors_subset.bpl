//@ error 21:11 ivl-subset: type parameters `<..>` (polymorphism): outside the subset of Boogie that is supported
//@ error 22:8 ivl-subset: `lambda`: outside the subset of Boogie that is supported
//@ error 23:16 ivl-subset: type parameters `<..>` (polymorphism): outside the subset of Boogie that is supported
//@ error 24:8 ivl-subset: type parameters `<..>` (polymorphism): outside the subset of Boogie that is supported
//@ error 25:7 ivl-subset: a real number: outside the subset of Boogie that is supported
//@ error 25:11 ivl-subset: the division of reals `/`: outside the subset of Boogie that is supported
//@ error 25:13 ivl-subset: a real number: outside the subset of Boogie that is supported
//@ error 26:9 ivl-subset: the partial order `<:`: outside the subset of Boogie that is supported
//@ error 27:15 ivl-subset: `extends`: outside the subset of Boogie that is supported
//@ error 28:6 ivl-subset: `finite`: outside the subset of Boogie that is supported
//@ error 29:7 ivl-subset: a code expression `|{ }|`: outside the subset of Boogie that is supported
//@ error 30:7 ivl-subset: a `var` expression (let): outside the subset of Boogie that is supported
//@ error 32:8 ivl-subset: a wildcard `*` in a call: outside the subset of Boogie that is supported
//@ error 33:3 ivl-subset: `yield`: outside the subset of Boogie that is supported
//@ error 33:10 ivl-subset: `par`: outside the subset of Boogie that is supported
//@ error 34:14 ivl-subset: an integer literal beyond 127 bits: outside the subset of Boogie that is supported
//@ error 36:12 ivl-syntax: unexpected `;`
//@ error 37:6 ivl-subset: an algebraic data type: outside the subset of Boogie that is supported
//@ error 38:5 ivl-subset: a layer of Civl: outside the subset of Boogie that is supported
//@ error 39:16 ivl-subset: a linear variable: outside the subset of Boogie that is supported
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
const r: real; var h: float24e8, i: bv256;
function {:bvbuiltin "str.++"} glue(bv8, bv8): bv8;
function {:bvbuiltin "bvnand"} bad(bv8, bv16): bv8;
function {:inline} loop(x: int): int { loop(x) }
implementation owns(x: int where x > 0) { }
const r: real; var h: float24e8, i: bv256;
function {:bvbuiltin "str.++"} glue(bv8, bv8): bv8;
function {:bvbuiltin "bvnand"} bad(bv8, bv16): bv8;
function {:inline} loop(x: int): int { loop(x) }
implementation owns(x: int where x > 0) { }
const r: real; var h: float24e8, i: bv256;
function {:bvbuiltin "str.++"} glue(bv8, bv8): bv8;
function {:bvbuiltin "bvnand"} bad(bv8, bv16): bv8;
function {:inline} loop(x: int): int { loop(x) }
implementation owns(x: int where x > 0) { }
