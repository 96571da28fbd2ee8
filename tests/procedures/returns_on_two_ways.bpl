// A postcondition that fails on two ways is placed at the closing brace, if it fails there.
procedure early(c: bool) returns (r: int)
  ensures r == 1;
{
  if (c) {
    r := 0;
    return;
  }
  r := 2;
} //! assertion postcondition

procedure both_branches(c: bool) returns (r: int)
  ensures r == 1;
{
  if (c) {
    r := 0;
  } else {
    r := 2;
  } //! assertion postcondition
}

procedure by_labels(c: bool) returns (r: int)
  ensures r == 1;
{
  goto A, B;
A:
  r := 0;
  return;
B:
  r := 2;
} //! assertion postcondition

procedure early_only(c: bool) returns (r: int)
  ensures r == 1;
{
  if (c) {
    r := 0;
    return; //! assertion postcondition
  }
  r := 1;
}
