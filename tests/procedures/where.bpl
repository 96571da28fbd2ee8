// Where clauses hold of every arbitrary value.
var level: int where level >= 0;

procedure at_start(x: int where x > 2) returns (r: int where r != 0)
{
  var local: int where local < 5;
  assert x > 2;
  assert r != 0;
  assert local < 5;
  assert level >= 0;
  local := 9;
  havoc local;
  assert local < 5;
  assert local < 4; //! assertion assertion
}

procedure changes();
  modifies level;

procedure call_keeps()
  modifies level;
{
  var r: int;
  call changes();
  assert level >= 0;
  call r := at_start(3);
  assert r != 0;
  level := 0 - 1;
  assert level >= 0; //! possible-assertion assertion
}

procedure in_loop(n: int)
  modifies level;
{
  var i: int where i >= 0;
  i := 0;
  while (i < n)
  {
    level := level + 1;
    i := i + 1;
  }
  assert i >= 0;
  assert level >= 0;
}
