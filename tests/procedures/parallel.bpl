// boogie: a literal that is assigned is there already for the values beside it
procedure swap(x: int, y: int)
{
  var a, b: int;
  a, b := x, y;
  a, b := b, a;
  assert a == y && b == x;
}

procedure with_literal(x: int)
{
  var a, b: int;
  a := x;
  a, b := 3, a;
  assert a == 3 && b == x;
  assert b == 3; //! assertion assertion
}

procedure elements(m: [int]int)
{
  var n: [int]int, i: int;
  n, i := m, 1;
  n[i], i := i + 1, n[i];
  assert i == m[1];
  assert n[1] == 2;
  assert n[i] == 2; //! possible-assertion assertion
}
