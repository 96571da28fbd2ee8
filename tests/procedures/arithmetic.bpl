// Division rounds so that the rest is never negative; by zero it is any value; integers have no largest.
procedure d1(x: int, y: int)
{
  assert x div 0 == x div 0;
  assert x mod 0 == x; //! assertion assertion
}

procedure d2(x: int)
{
  assert (x div (-2)) * (-2) + x mod (-2) == x;
  assert x mod (-2) >= 0;
  assert 7 div (-2) == -3;
  assert (-7) div 2 == -4;
  assert (-7) mod 2 == 1;
  assert (-7) div (-2) == 4;
  assert 7 mod (-2) == 1;
}

procedure d3(x: int)
{
  assert x div 0 == 0; //! assertion assertion
}

procedure d4(x: int, y: int)
  requires y != 0;
{
  assert y * (x div y) + x mod y == x;
  assert 0 <= x mod y;
}

procedure d5()
{
  assert 170141183460469231731687303715884105727 + 1 > 0;
}

procedure d6()
{
  assert 99999999999999999999 * 99999999999999999999 > 0;
}

procedure d8()
{
  var x: int;
  x := 170141183460469231731687303715884105727;
  x := x + x;
  assert x > 0;
  assert x == 0; //! assertion assertion
}

procedure d9()
{
  var x: int;
  x := 170141183460469231731687303715884105727;
  x := x * x;
  assert x > 0;
  assert x < 0; //! assertion assertion
}

procedure d10()
{
  var x: int;
  x := 1;
  while (x > 0)
    invariant x > 0;
  {
    x := x * 170141183460469231731687303715884105727;
  }
}

procedure d11(n: int)
{
  var x: int;
  x := -170141183460469231731687303715884105727;
  x := x - 2;
  assert x < 0;
  x := -x;
  assert x > 0;
  assert x < 0; //! assertion assertion
}

procedure d12()
{
  var x: int;
  x := 0;
  while (x < 100) {
    x := x + 1;
  }
  assert x == 100;
  assert x == 99; //! possible-assertion assertion
}

procedure d13()
{
  var x: int;
  x := -100;
  while (x < -5) {
    x := x + 3;
  }
  assert x >= -5;
  assert x == -4; //! possible-assertion assertion
}
