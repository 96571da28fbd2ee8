// An assertion that is known to hold under a condition, and is assumed in full behind it.
procedure known(x: int)
{
  assert {:verified_under x > 1} x > 2; //! assertion assertion
  assert x > 2;
}

procedure always_known(x: int)
{
  assert {:verified_under true} x > 2;
  assert x > 2;
}

procedure the_first_counts(x: int)
{
  if (*) {
    assert {:verified_under true} {:verified_under false} x > 0;
  } else {
    assert {:verified_under false} {:verified_under true} x > 0; //! assertion assertion
  }
}

procedure invariants(n: int, u: bool)
{
  var i: int;
  i := 0;
  while (i < n)
    invariant {:verified_under u} i > 5; //! assertion invariant-entry
  {
    i := i - 1;
  }
  assert i > 5;
}

// Not of contracts.
procedure contract(x: int)
  requires {:verified_under true} x > 2;
  ensures {:verified_under true} x > 3;
{
} //! assertion postcondition

procedure calls(x: int)
{
  call contract(x); //! possible-assertion precondition
}

procedure {:inline 1} copied(x: int, u: bool)
{
  assert {:verified_under u} x > 0; //! assertion assertion
}

procedure copies(x: int)
{
  call copied(x, x < 0);
}
