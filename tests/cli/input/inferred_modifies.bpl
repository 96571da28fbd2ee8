// args: --infer-modifies
// exit: 3
// stdout: inferred: `modifies a;`
// stdout: inferred: `modifies a, c;`
// stdout: inferred: `modifies a, d;`
// stdout: 6 procedures: 4 verified, 2 possible-assertion
// Clauses are inferred through calls, also recursive ones; a local variable hides a global one, and a procedure without a
// body changes what it declares.
var a, b, c, d: int;
procedure leaf() { a := 1; }
procedure middle(b: int) returns (d: int) { d := b; call leaf(); call even(3); }
procedure even(n: int) { if (n > 0) { call odd(n - 1); } }
procedure odd(n: int) { havoc c; call even(n); }
procedure outside(); modifies d;
procedure top()
  modifies c;
{
  var x: int;
  d := 3;
  call x := middle(3);
  assert d == 3; call outside(); assert a == 1;
}
procedure frame()
{
  call leaf();
  assert b == old(b);
  assert a == old(a);
}
