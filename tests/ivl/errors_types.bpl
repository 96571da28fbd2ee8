//@ error 29:18 ivl-type: a where clause is bool, not int
//@ error 30:12 ivl-type: the right side of `==` is int, not bool
//@ error 32:44 ivl-modifies: no global variable is called `n`
//@ error 38:16 ivl-type: the procedure has 1 parameters, not 0
//@ error 38:16 ivl-type: the procedure has 1 results, not 0
//@ error 39:20 ivl-type: in the procedure this parameter is int, not bool
//@ error 46:3 ivl-type: `n` cannot be assigned: it is a constant
//@ error 47:9 ivl-type: `x` cannot be assigned: it is a parameter
//@ error 48:13 ivl-type: `offset` is bv32, not bv8
//@ error 49:3 ivl-modifies: the procedure needs `modifies counter;`
//@ error 50:8 ivl-modifies: this modifies the global variable `counter`
//@ error 51:8 ivl-type: `flag` takes a result of type int
//@ error 51:16 ivl-modifies: this modifies the global variable `counter`
//@ error 52:13 ivl-type: [41:8] takes no bits of a bv32: it needs 32 >= high > low >= 0
//@ error 53:32 ivl-type: the other branch is bool, not int
//@ error 54:10 ivl-type: this map takes 2 indices, not 1
//@ error 55:10 ivl-type: only maps have elements, not int
//@ error 56:11 ivl-type: the operand of `!` is bool, not int
//@ error 57:11 ivl-type: the type of this expression is bool, not int
//@ error 58:7 ivl-type: a formula is bool, not int
//@ error 59:10 ivl-type: a formula is bool, not int
//@ error 60:20 ivl-type: `++` works on bit-vectors, not int
//@ error 61:10 ivl-type: the attribute {:verified_under} takes bool, not int
// Rules of types, one a line; all names are known.

const n: int;
var counter: int;
var m: [int, int]bool;
var w: int where w + 1;
axiom n == true;

procedure bump(by: int); modifies counter, n;
  requires (forall n: int :: n == n);

procedure add(x: int) returns (result: int);
  modifies counter;

implementation add() { }
implementation add(x: bool) returns (result: int) { }

procedure main(x: int) returns (flag: bool)
{
  var offset: bv32;
  var i, j: int;

  n := 1;
  havoc x;
  offset := 5bv8;
  counter := 0;
  call bump(1);
  call flag := add(1);
  offset := offset[41:8];
  i := if true then false else 3;
  assert m[0];
  assert i[0];
  assume !i;
  assert (1 : bool);
  if (i) { }
  while (j) { }
  assert offset ++ i == offset;
  assert {:verified_under i} i > 0;
}
