// Each postcondition fails once, where the execution that the solver found returns.
procedure bounded(x: int) returns (r: int)
  requires x >= 0;
  ensures r >= 0;
  ensures r <= 10;
{
  if (x > 10) {
    r := 10;
    return;
  }
  r := x;
}

procedure unbounded(x: int) returns (r: int)
  ensures r >= 0;
  ensures r <= 10;
{
  if (x > 10) {
    r := 11;
    return; //! assertion postcondition
  }
  if (x >= 0) {
    r := x;
    return;
  }
  r := 5;
}

var counter: int;

procedure increment(by: int) returns (old_value: int)
  requires by > 0;
  modifies counter;
  ensures counter == old(counter) + by;
  ensures old_value == old(counter);
{
  old_value := counter;
  counter := counter + by;
}

procedure twice()
  modifies counter;
  ensures counter == old(counter) + 2;
{
  var before: int;
  call before := increment(1);
  call before := increment(1);
  assert before == old(counter) + 1;
}

procedure thrice()
  modifies counter;
  ensures counter > old(counter) + 3;
{
  var before: int;
  call before := increment(1);
  call before := increment(2);
  call before := increment(0); //! possible-assertion precondition
  assert counter == old(counter) + 3;
}
