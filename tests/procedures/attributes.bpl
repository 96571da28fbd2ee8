// Attributes of procedures and assertions.
procedure {:verify false} v1()
{
  assert false;
}

procedure v2(x: int)
{
  assert {:subsumption 0} x > 0; //! assertion assertion
  assert x > 0; //! assertion assertion
  assert x > 1; //! assertion assertion
}
function {:inline} sq(x: int) : int { x * x }
function {:inline true} sq2(x: int) returns (int) { x * x }

procedure v5(x: int)
{
  assert sq(x) >= 0;
  assert sq2(3) == 9;
  assert sq(x) == x; //! assertion assertion
}

procedure v20(x: int)
{
  assert x == 1; //! assertion assertion
  assert x == 1;
  assert x == 1 || x == 2;
  if (*) {
    assert x == 1;
  }
  assert x == 2; //! assertion assertion
}

procedure v21(x: int)
{
  if (x > 0) {
    assert x > 1; //! assertion assertion
  } else {
    assert x < 0; //! assertion assertion
  }
  assert x != 5; //! assertion assertion
}
