// Houdini: candidates of loops, calls and postconditions, several in front of one condition.
// inferred: b1 = true, b2 = true, b3 = true, b4 = true, b5 = false, b6 = false, c1 = true, c2 = false, c3 = true
const {:existential true} b1: bool; const {:existential true} b2: bool; const {:existential true} b3: bool; const {:existential true} b4: bool; const {:existential true} b5: bool; const {:existential true} b6: bool;
const {:existential true} c1: bool; const {:existential true} c2: bool; const {:existential true} c3: bool;
var g: int;
procedure main(n: int) modifies g; requires n > 0;
{
  var i, j: int; i := 0; j := 0; g := 0;
  while (i < n)
    invariant b1 ==> i >= 0;
    invariant b2 ==> i == j;
    invariant b1 && b2 ==> j >= 0;
    invariant b3 ==> (b4 ==> i <= n);
    invariant b4 ==> g == i;
    invariant b5 ==> g == 2 * i;
    invariant b6 ==> i < n;
  { i := i + 1; call j := inc(j); g := g + 1; }
  assert i >= n;
  assert g == n;
  assert i == j;
  assert g == 7; //! possible-assertion assertion
}
procedure inc(x: int) returns (y: int)
  requires c1 ==> x >= 0;
  requires c2 ==> x > 0;
  ensures c3 ==> y > x;
  ensures c3 ==> y == x + 1;
{ y := x + 1; assert c1 ==> y > 0; assert y > 1; } //! assertion assertion
