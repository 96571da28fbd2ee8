// Concatenation and extraction: which part is which.
procedure v22(a: bv8, b: bv8)
{
  assert a ++ b == b ++ a; //! assertion assertion
  assert (a ++ b)[8:0] == b;
  assert 3bv2 ++ 1bv2 == 13bv4;
  assert (0bv8 ++ a)[4:2] == a[4:2];
}
