// Where a body returns: its closing brace, that of a branch, the loop or `if` that is last, `break`.
procedure p1(c: bool) returns (r: int)
  ensures r == 1;
{
  r := 0;
  if (c) { //! assertion postcondition
    r := 1;
  }
}

procedure p2(c: bool) returns (r: int)
  ensures r == 1;
{
  if (c) {
    r := 0;
  } else { //! assertion postcondition
    r := 1;
  }
}

procedure p3(c: bool) returns (r: int)
  ensures r == 1;
{
  r := 0;
  while (*) { //! possible-assertion postcondition
    r := 2;
  }
}

procedure p4(c: bool) returns (r: int)
  ensures r == 1;
{
  r := 1;
  while (*) {
    r := 1;
    if (c) {
      r := 2;
      break; //! possible-assertion postcondition
    }
    if (*) {
      r := 3;
      return;
    }
  }
}

procedure p5(c: bool, d: bool) returns (r: int)
  ensures r == 1;
{
  r := 1;
  if (c) {
    if (d) {
      r := 1;
    }
    else
    {
      while (*)
        invariant r == 1;
      {
        r := 2;
        break; //! assertion postcondition
      }
    }
  }
  else if (d) {
    r := 1;
  }
}

procedure p6(c: bool, d: bool) returns (r: int)
  ensures r == 1;
{
  if (c) {
    r := 1;
  }
  else if (d) { //! assertion postcondition
    r := 1;
  }
}

procedure p7(c: bool, d: bool) returns (r: int)
  ensures r == 1;
{
  goto A, B;
A:
  r := 1;
  goto C;
B:
  r := 3;
  goto C;
C:
} //! assertion postcondition

procedure p9(c: bool, d: bool) returns (r: int)
  ensures r == 1;
{
  A: r := 1;
  if (c) { goto B; }
  r := 3;
  B:
} //! assertion postcondition

procedure p10(c: bool, d: bool) returns (r: int)
  ensures r == 1;
{ } //! assertion postcondition

procedure p11(c: bool, d: bool) returns (r: int)
  ensures r == 1;
{
  A: 
} //! assertion postcondition

procedure p12(c: bool, d: bool) returns (r: int)
  ensures r == 1;
{
  if (c) {
    r := 1;
    return;
  } else {
    r := 2;
    return; //! assertion postcondition
  }
}

procedure p13(c: bool, d: bool) returns (r: int)
  ensures r == 1;
{
  A: r := 1;
  while (c)
  {
    r := 2;
  }
  B:
  while (d) //! possible-assertion postcondition
  { r := 1;
  }
}

procedure p14(c: bool, d: bool) returns (r: int)
  ensures r == 1;
{
  r := 1;
  while (c)
    invariant r == 1;
  {
    X: if (d) { r := 2; break; } //! possible-assertion postcondition
  }
}
