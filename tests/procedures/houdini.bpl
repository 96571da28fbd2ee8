// Houdini chooses the constants: conditions that some body refutes are dropped.
// inferred: b0 = true, b1 = true, b2 = false, b3 = false, c0 = true, c1 = true
const {:existential true} b0: bool;
const {:existential true} b1: bool;
const {:existential true} b2: bool;
const {:existential true} b3: bool;
const {:existential true} c0: bool;
const {:existential true} c1: bool;

procedure main(n: int) returns (i: int)
  requires n >= 0;
  ensures i == n;
{
  i := 0;
  while (i < n)
    invariant b0 ==> i >= 0;
    invariant b1 ==> i <= n;
    invariant b2 ==> i == 0;
    invariant b3 ==> i < n;
  {
    call i := next(i);
  }
  assert i != 5; //! possible-assertion assertion
}

procedure next(x: int) returns (y: int)
  requires c0 ==> x >= 0;
  ensures c1 ==> y == x + 1;
{
  y := x + 1;
}
