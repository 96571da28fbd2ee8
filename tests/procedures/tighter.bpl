// Bounds at a loop head that need two rounds of narrowing.
// boogie: its intervals are not narrowed, so it finds no upper bound
procedure to_three()
{
  var x: int;
  x := -100;
  while (x < -5) {
    x := x + 3;
  }
  assert x >= -5;
  assert x <= -3;
  assert x == -4; //! possible-assertion assertion
}
