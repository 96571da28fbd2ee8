// Procedures in the place of their calls: contracts are checked there, and recursion goes so deep only.
var g: int;

procedure {:inline 1} add(x: int) returns (y: int)
  modifies g;
{
  g := g + x;
  y := g;
}

procedure uses()
  modifies g;
{
  var a, b: int;
  g := 1;
  call a := add(2);
  call b := add(a);
  assert a == 3 && b == 6 && g == 6;
  call a := add(a);
  assert a == 6; //! assertion assertion
}

procedure {:inline 1} checked(x: int) returns (y: int)
  requires x > 0;
{
  assert x != 7; //! assertion assertion
  y := x - 1;
}

procedure calls(a: int)
{
  var b: int;
  call b := checked(a); //! assertion precondition
  assert b >= 0;
}

procedure {:inline 3} down(n: int) returns (r: int)
{
  if (n <= 0) {
    r := 0;
  } else {
    call r := down(n - 1);
    r := r + 1;
  }
}

procedure to_two()
{
  var r: int;
  call r := down(2);
  assert r == 2;
}

procedure too_deep()
{
  var r: int;
  call r := down(5);
  assert false;
}

procedure {:inline 1} with_loop(n: int) returns (i: int)
{
  i := 0;
  while (i < n)
    invariant i >= 0;
  {
    i := i + 1;
  }
}

procedure twice_a_loop()
{
  var i, j: int;
  call i := with_loop(3);
  call j := with_loop(i);
  assert j >= i;
  assert i == 3;
}
