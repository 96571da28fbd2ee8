//@ error 49:12 ivl-duplicate: another type is called `T`
//@ error 50:6 ivl-type: the type `Cycle` is defined by itself
//@ error 51:10 ivl-name: no type is called `Tee`
//@ error 52:10 ivl-type: the type `Box` takes 1 arguments, not 0
//@ error 53:13 ivl-subset: the type `real`
//@ error 53:33 ivl-subset: `bv256`
//@ error 53:20 ivl-subset: the floating-point type `float24e8`
//@ error 54:7 ivl-duplicate: another variable is called `g`
//@ error 55:10 ivl-duplicate: another function is called `fun`
//@ error 56:26 ivl-name: did you mean `value`?
//@ error 57:22 ivl-type: a where clause is bool, not int
//@ error 58:11 ivl-duplicate: another procedure is called `fun`
//@ error 59:24 ivl-duplicate: another variable is called `x`
//@ error 60:31 ivl-type: `old` stands only in postconditions
//@ error 60:54 ivl-name: no variable is called `later`
//@ error 61:12 ivl-name: no variable is called `result`
//@ error 62:12 ivl-modifies: did you mean `g`?
//@ error 62:16 ivl-modifies: no global variable is called `value`
//@ error 63:16 ivl-name: did you mean `callee`?
//@ error 64:16 ivl-type: the procedure has 1 parameters, not 0
//@ error 65:23 ivl-type: in the procedure this parameter is int, not bool
//@ error 65:38 ivl-syntax: a result of an implementation has no where clause
//@ error 71:11 ivl-name: no variable is called `missing`
//@ error 72:3 ivl-type: `value` cannot be assigned: it is a constant
//@ error 73:9 ivl-type: `x` cannot be assigned: it is a parameter
//@ error 74:8 ivl-name: did you mean `callee`?
//@ error 75:8 ivl-type: procedure `callee` takes 1 arguments, not 2
//@ error 76:8 ivl-type: procedure `callee` has 1 results, not 0
//@ error 76:8 ivl-modifies: this modifies the global variable `g`
//@ error 75:8 ivl-modifies: this modifies the global variable `g`
//@ error 77:8 ivl-type: `flag` takes a result of type int
//@ error 78:3 ivl-modifies: this modifies the global variable `g`
//@ error 79:20 ivl-duplicate: the bound variable `local` hides another variable
//@ error 80:30 ivl-type: a trigger is more than a variable
//@ error 81:38 ivl-type: this trigger does not mention the bound variable `k`
//@ error 82:11 ivl-type: the type of this expression is bool, not int
//@ error 83:8 ivl-label: did you mean `Start`?
//@ error 84:1 ivl-duplicate: two blocks are labelled `Start`
//@ error 85:17 ivl-label: `break` is in no statement that is labelled `Start`
//@ error 86:3 ivl-label: `break` outside of a loop
//@ error 89:37 ivl-subset: the built-in function "str.++"
//@ error 90:34 ivl-type: no bit-vector operator "bvnand" has this signature
//@ error 91:10 ivl-type: the function `loop` is defined by itself
// Rules of names and types, one a line. Locals may hide globals; nothing else may be hidden.

type Box a;
const value: int;
type T, U; type T;
type Cycle = [int]Other; type Other = Cycle;
const t: Tee;
const u: Box;
const real: real; var h: float24e8, i: bv256;
var g, g: int;
function fun(int): int; function fun(): bool;
axiom (forall v: int :: valu == v);
var w: int where w + 1;
procedure fun();
procedure twice(x: int, x: bool);
procedure where_old(x: int where old(x) == 1, y: int where later > 0) returns (later: int);
  requires result > 0;
  modifies gg, value;
implementation calee() { }
implementation callee() returns (r: int) { }
implementation callee(g: bool) returns (g2: int where g2 > 0) { }
procedure callee(x: int) returns (result: int) modifies g; { g := x; }
procedure body(x: int) returns (flag: bool)
{
  var g2: int, local: int;
Start:
  havoc g2, missing;
  value := 1;
  havoc x;
  call caller(1);
  call g2 := callee(1, 2);
  call callee(1);
  call flag := callee(1);
  g := 2;
  assert (forall g, local: int :: true);
  assert (forall k: int :: { k } true);
  assert (forall j, k: int :: { fun(j) } true);
  assert (1 : bool);
  goto Strat;
Start:
  while (*) { break Start; }
  break;
}

function {:bvbuiltin "str.++"} glue(bv8, bv8): bv8;
function {:bvbuiltin "bvnand"} bad(bv8, bv16): bv8;
function {:inline} loop(x: int): int { loop(x) }
