//@ error 35:17 ivl-duplicate: another type is called `T`
//@ error 36:6 ivl-type: the type `Cycle` is defined by itself
//@ error 37:10 ivl-name: no type is called `Tee`
//@ error 38:10 ivl-type: the type `Box` takes 1 argument, not 0
//@ error 39:8 ivl-duplicate: another variable is called `g`
//@ error 40:34 ivl-duplicate: another function is called `fun`
//@ error 41:25 ivl-name: did you mean `value`?
//@ error 42:11 ivl-duplicate: another procedure is called `fun`
//@ error 43:25 ivl-duplicate: another variable is called `x`
//@ error 44:34 ivl-type: `old` stands only in postconditions and procedure bodies
//@ error 44:60 ivl-name: no variable is called `later`
//@ error 45:12 ivl-name: no variable is called `result`
//@ error 46:12 ivl-modifies: did you mean `g`?
//@ error 47:16 ivl-name: did you mean `callee`?
//@ error 54:13 ivl-name: no variable is called `missing`
//@ error 55:8 ivl-name: no procedure is called `caller`
//@ error 56:14 ivl-type: procedure `callee` takes 1 argument, not 2
//@ error 57:8 ivl-type: procedure `callee` has 1 results, not 0
//@ error 58:21 ivl-duplicate: the bound variable `local` hides another variable
//@ error 59:30 ivl-type: a trigger is more than a variable
//@ error 60:33 ivl-type: this trigger does not mention the bound variable `k`
//@ error 61:1 ivl-duplicate: two blocks are labelled `Start`
//@ error 65:20 ivl-type: an axiom or function body cannot read the variable `g`
//@ error 67:12 ivl-type: `old` stands only in postconditions and procedure bodies
//@ error 71:8 ivl-name: no variable is called `ofset`
//@ error 72:3 ivl-duplicate: `i` takes two values in one assignment
//@ error 73:8 ivl-name: it is a procedure
//@ error 74:8 ivl-name: no variable is called `missing`
//@ error 74:18 ivl-name: no function is called `absent`
//@ error 80:10 ivl-duplicate: another procedure is called `behind`
// Rules of names, one a line. Locals may hide globals; nothing else may be hidden.

type Box a;
const value: int;
type T, U; type T;
type Cycle = [int]Other; type Other = Cycle;
const t: Tee;
const u: Box;
var g, g: int;
function fun(int): int; function fun(): bool;
axiom (forall v: int :: valu == v);
procedure fun();
procedure twice(x: int, x: bool);
procedure where_old(x: int where old(x) == 1, y: int where later > 0) returns (later: int);
  requires result > 0;
  modifies gg;
implementation calee() { }
procedure callee(x: int) returns (result: int) modifies g; { g := x; }
procedure body(x: int) returns (flag: bool)
  modifies g;
{
  var g2: int, local: int;
Start:
  havoc g2, missing;
  call caller(1);
  call g2 := callee(1, 2);
  call callee(1);
  assert (forall g, local: int :: true);
  assert (forall k: int :: { k } true);
  assert (forall j, k: int :: { fun(j) } true);
Start:
  return;
}

axiom value == fun(g);
procedure statements(x: int)
  requires old(x) == x;
{
  var i, j: int;

  i := ofset;
  i, i := 1, 2;
  i := callee(i);
  i := missing + absent(j);
  // Types are looked at when all names are known.
  assert i;
}

procedure behind();
function behind(): int;
