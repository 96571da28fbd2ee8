// The postcondition of a copy fails at its call.
// boogie: it tells no line for postconditions of inlined procedures
var g: int;

procedure {:inline 1} o8(d: int)
  modifies g;
  ensures g == old(g) + d + 1;
{
  g := g + d;
}

procedure o9()
  modifies g;
{
  call o8(1); //! assertion postcondition
  assert g == old(g) + 1;
}
