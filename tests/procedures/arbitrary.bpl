// Where clauses of locals, parameters and results: assumed where a value is arbitrary, never checked.
procedure v15()
{
  var i: int where i > 3;
  assert i > 3;
  i := 0;
  assert i > 3; //! assertion assertion
  havoc i;
  assert i > 3;
}

procedure v16() returns (r: int where r > 2)
{
  assert r > 2;
  r := 0;
}

procedure v17()
{
  var x: int;
  call x := v16();
  assert x > 2;
  assert x > 3; //! possible-assertion assertion
}

procedure v18(a: int, b: int where a < b)
{
  assert a < b;
}

procedure v19()
{
  call v18(3, 2);
}
