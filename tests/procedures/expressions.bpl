// Forms of expressions: types behind them, choices without parentheses, attributes of assignments.
type Box a;
function value(b: Box int): int;

procedure types(x: int, m: [int]int, b: Box int, v: bv8)
{
  assert x: int == x && -x: int == 0 - x: int: int;
  assert m[x: int := 3: int][x] == 3;
  assert (m: [int]int)[x: int] == m[x];
  assert value(b: Box int): int == value(b);
  assert v[8:4] ++ v[4: 0] == v: bv8;
  assert x: int > 0; //! assertion assertion
}

procedure choices(b: bool, x: int, m: [int]int) returns (y: int)
{
  assert x <= if b then x else x + 1;
  assert 6 >= 3 * if b then 1 else 1 + 1;
  assert b ==> if b then b else !b;
  assert !if b then false else false;
  assert x + x >= x - if b then 0 - x else 0 - x;
  assert (if b then m else m)[x] == m[x];
  assert b || if b then x > 0 else if x > 0 then x > 0 else x <= 0;
  y := if b then 1 else 2: int;
  assert y == if b then 1 else 2;
  assert m[if b then 1 else 2] == if b then m[1] else m[2];
  assert x == if b then 1 else x; //! assertion assertion
}

procedure attributed(x: int) returns (y: int, z: int)
{
  var m: [int]int;
  y := {:trace "here"} x;
  y, z := {:of nobody, knows(these)} z, y;
  m[1] := {:trace} x;
  assert z == x && m[1] == x;
  assert y == x; //! assertion assertion
}

procedure bound(x: int)
{
  assert (forall y: int :: y: int > x: int ==> !(y <= x): bool);
}
