// What a marked assumption does not lead to is assumed; a mark in a loop does not lead to its head.
procedure before_a_call(x: int);
  requires x > 10;

procedure {:selective_checking} straight(x: int)
  requires x > 3;
{
  assert x > 4;
  call before_a_call(x);
  assume {:start_checking_here} x < 50;
  call before_a_call(x);
  assert x > 49; //! possible-assertion assertion
}

procedure {:selective_checking true} arms(x: int)
{
  assert x > 0;
  if (x > 5) {
    assume {:start_checking_here} true;
    assert x > 6; //! assertion assertion
  } else {
    assert x > 2;
  }
  assert x > 10; //! assertion assertion
}

procedure {:selective_checking} in_a_loop(n: int)
{
  var i: int;
  i := 0;
  while (i < n)
    invariant i >= 0;
    invariant i < 7; //! possible-assertion invariant-maintenance
  {
    assert n > 30;
    assume {:start_checking_here} true;
    i := i + 1;
  }
  assert i == 3;
}

procedure {:selective_checking} above_a_loop(n: int)
{
  var i: int;
  i := 0;
  assume {:start_checking_here} true;
  while (i < n)
    invariant i >= 1; //! assertion invariant-entry
  {
    i := i + 1;
  }
  assert i == 3 || i != 3;
}

procedure not_selective(x: int)
{
  assert x > 0; //! assertion assertion
  assume {:start_checking_here} true;
  assert x > 6; //! assertion assertion
}

procedure {:selective_checking false} not_selective_either(x: int)
{
  assert x > 3; //! assertion assertion
}

procedure of_the_body(x: int);
implementation {:selective_checking} of_the_body(x: int)
{
  assert x > 3;
}
