// Bodies that stand apart, with names of their own.
procedure pick(x: int) returns (r: int);
  requires x > 0;
  ensures r > x;

implementation pick(a: int) returns (b: int)
{
  b := a + 1;
}

implementation pick(c: int) returns (x: int)
{
  x := c;
  if (c == 3) { //! assertion postcondition
    x := 4;
  }
}

procedure user()
{
  var v: int;
  call v := pick(4);
  assert v > 4;
  assert v == 5; //! possible-assertion assertion
}
