// Copies of procedures: depth, several results, loops, nested copies, where clauses, free conditions, labels.
procedure {:inline 2} f(n: int) returns (r: int)
{
  if (n <= 0) {
    r := 0;
  } else {
    call r := f(n - 1);
    r := r + 1;
  }
}

procedure t1()
{
  var r: int;
  call r := f(1);
  assert r == 1;
  call r := f(5);
  assert false;
}

procedure {:inline 1} two(a: int) returns (x: int, y: int)
  requires a > 0;
  ensures x < y;
{
  x := a;
  y := a + 1;
  if (a == 7) {
    y := a;
    return;
  }
  while (y < 10)
    invariant x < y;
  {
    y := y + 1;
  }
}

procedure t2(z: int)
{
  var p, q: int;
  call p, q := two(3);
  assert p == 3;
  assert q >= 10;
  assert q == 10;
  call q, p := two(z); //! possible-assertion postcondition, possible-assertion precondition
  assert q < p;
}
var g: int;

procedure {:inline 1} nest(a: int)
  modifies g;
{
  call inner(a);
  call inner(a + 1);
}

procedure {:inline 1} inner(a: int)
  modifies g;
{
  var l: int;
  assert l == 0; //! assertion assertion
  l := a;
  g := g + l;
}

procedure t3()
  modifies g;
{
  g := 0;
  call nest(1);
  assert g == 3;
  assert g == 4; //! assertion assertion
}
procedure {:inline 1} noimpl(a: int) returns (b: int); ensures b > a;

procedure t4()
{
  var c: int;
  call c := noimpl(3);
  assert c > 3;
  assert c > 4; //! possible-assertion assertion
}

procedure {:inline 1} wh(a: int where a > 3) returns (r: int where r > 0)
{
  var q: int where q > 9;
  assert q > 9;
  assert r > 0; //! assertion assertion
  r := q - 9;
  assert a > 3; //! assertion assertion
}

procedure t5()
{
  var c: int;
  call c := wh(2);
  assert c > 0;
  assert c > 1;
}

procedure {:inline 1} dead(a: int)
{
  return;
  assert false;
}

procedure t6()
{
  call dead(2);
  assert true;
}

procedure {:inline 1} lab(a: int) returns (r: int)
{
  goto A, B;
A:
  r := 1;
  goto C;
B:
  r := 2;
  goto C;
C:
  return;
}

procedure t7()
{
  var r, s: int;
  call r := lab(1);
  call s := lab(2);
  assert r == 1 || r == 2;
  assert r == s; //! assertion assertion
}

procedure {:inline 1} inf()
{
  while (true) {
  }
}

procedure t8()
{
  call inf();
  assert false;
}

procedure {:inline 1} free_things(a: int) returns (r: int)
  free requires a > 0;
  free ensures r > 0;
{
  assert a > 0; //! assertion assertion
  r := a - 1;
}

procedure t9(z: int)
{
  var r: int;
  call r := free_things(z);
  assert r > 0; //! assertion assertion
  assert z > 0;
}
