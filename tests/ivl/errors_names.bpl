//@ error 48:17 ivl-duplicate: another type is called `T`
//@ error 49:6 ivl-type: the type `Cycle` is defined by itself
//@ error 50:10 ivl-name: no type is called `Tee`
//@ error 51:10 ivl-type: the type `Box` takes 1 argument, not 0
//@ error 52:10 ivl-subset: the type `real`
//@ error 52:23 ivl-subset: the floating-point type `float24e8`
//@ error 52:37 ivl-subset: `bv256`, a bit-vector type that is not of 1 to 128 bits
//@ error 53:8 ivl-duplicate: another variable is called `g`
//@ error 54:34 ivl-duplicate: another function is called `fun`
//@ error 55:25 ivl-name: did you mean `value`?
//@ error 56:18 ivl-type: a where clause is bool, not int
//@ error 57:11 ivl-duplicate: another procedure is called `fun`
//@ error 58:25 ivl-duplicate: another variable is called `x`
//@ error 59:34 ivl-type: `old` stands only in postconditions and procedure bodies
//@ error 59:60 ivl-name: no variable is called `later`
//@ error 60:12 ivl-name: no variable is called `result`
//@ error 61:12 ivl-modifies: did you mean `g`?
//@ error 61:16 ivl-modifies: no global variable is called `value`
//@ error 62:16 ivl-name: did you mean `callee`?
//@ error 63:16 ivl-type: the procedure has 1 parameters, not 0
//@ error 64:23 ivl-type: in the procedure this parameter is int, not bool
//@ error 64:41 ivl-syntax: a result of an implementation has no where clause; the one of its procedure holds
//@ error 70:13 ivl-name: no variable is called `missing`
//@ error 71:3 ivl-type: `value` cannot be assigned: it is a constant
//@ error 72:9 ivl-type: `x` cannot be assigned: it is a parameter
//@ error 73:8 ivl-name: did you mean `callee`?
//@ error 74:14 ivl-type: procedure `callee` takes 1 argument, not 2
//@ error 74:14 ivl-modifies: this modifies the global variable `g`
//@ error 75:8 ivl-type: procedure `callee` has 1 results, not 0
//@ error 75:8 ivl-modifies: this modifies the global variable `g`
//@ error 76:8 ivl-type: `flag` takes a result of type int
//@ error 76:16 ivl-modifies: this modifies the global variable `g`
//@ error 77:3 ivl-modifies: this modifies the global variable `g`
//@ error 78:21 ivl-duplicate: the bound variable `local` hides another variable
//@ error 79:30 ivl-type: a trigger is more than a variable
//@ error 80:33 ivl-type: this trigger does not mention the bound variable `k`
//@ error 81:11 ivl-type: the type of this expression is bool, not int
//@ error 82:8 ivl-label: did you mean `Start`?
//@ error 83:1 ivl-duplicate: two blocks are labelled `Start`
//@ error 85:3 ivl-label: `break` outside of a loop
//@ error 88:32 ivl-subset: the built-in function "str.++"
//@ error 89:32 ivl-type: no bit-vector operator "bvnand" has this signature
//@ error 90:20 ivl-type: the function `loop` is defined by itself
// Rules of names and types, one a line. Locals may hide globals; nothing else may be hidden.

type Box a;
const value: int;
type T, U; type T;
type Cycle = [int]Other; type Other = Cycle;
const t: Tee;
const u: Box;
const r: real; var h: float24e8, i: bv256;
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
