// `break` leaves the inner loop only, so the outer invariant fails.
// boogie: its `break` goes to the block before the outer loop where the inner loop is the last statement
procedure p8(c: bool, d: bool) returns (r: int)
{
  r := 1;
  while (c)
    invariant r == 1; //! possible-assertion invariant-maintenance
  {
    while (d)
      invariant r == 1;
    {
      r := 3;
      break;
    }
  }
}

procedure p9(c: bool, d: bool) returns (r: int)
{
  r := 1;
  while (c)
    invariant r == 1; //! possible-assertion invariant-maintenance
  {
    while (d)
      invariant r == 1;
    {
      r := 3;
      break;
    }
    r := r;
  }
}

procedure p10(c: bool, d: bool) returns (r: int)
{
  r := 1;
  while (c)
    invariant r == 1; //! possible-assertion invariant-maintenance
  {
    while (d)
      invariant r == 1;
    {
      r := 3;
      if (*) { break; }
      return;
    }
  }
}
