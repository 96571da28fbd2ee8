// `old` in loops, in copies of bodies, of maps and of what is no global variable; bodies with other names.
var g: int; var m: [int]int;

procedure o4()
  modifies g;
{
  g := g + 1;
  assert old(g) < g;
  call o5();
  assert old(g) < g;
  assert g > old(g) + 1;
  assert g > old(g) + 2; //! possible-assertion assertion
}

procedure o5()
  modifies g;
  ensures g == old(g) + 1;
  ensures old(old(g)) == old(g);
{
  g := g + 1;
}

procedure {:inline 1} o6(d: int)
  modifies g;
  ensures g == old(g) + d;
{
  var t: int;
  t := old(g);
  g := g + d;
  assert old(g) == t;
}

procedure o7()
  modifies g;
{
  g := 10;
  call o6(1);
  assert g == 11;
  call o6(g);
  assert g == 22;
  assert old(g) == 0; //! assertion assertion
}

procedure {:inline 1} o10(n: int) returns (s: int)
  requires n >= 0;
  modifies g;
{
  var i: int;
  i := 0;
  s := 0;
  while (i < n)
    invariant 0 <= i && i <= n;
    invariant s == i;
    invariant g == old(g) + i;
  {
    i := i + 1;
    s := s + 1;
    g := g + 1;
  }
}

procedure o11()
  modifies g;
{
  var s, i: int;
  i := 4;
  call s := o10(3);
  assert s == 3;
  assert i == 4;
  assert g == old(g) + 3;
  call i := o10(i);
  assert i == 4;
  assert g == old(g) + 7;
  assert g == 7; //! possible-assertion assertion
}

procedure o12()
  modifies m;
  ensures (forall i: int :: i != 2 ==> m[i] == old(m[i]));
{
  m[2] := 3;
  m[old(m)[2]] := m[old(m[2])];
}

procedure o13()
  modifies g;
{
  var x: int;
  x := old(g);
  havoc g;
  assert x == old(g);
  assume g == x;
  assert g == old(g);
}

procedure o14(i: int)
  modifies g;
  ensures old(i) == i;
  ensures old(g + i) == old(g) + i;
{
  var l: int;
  l := 3;
  g := l;
  assert old(l) == 3;
  l := 4;
  assert old(l) == 4;
  assert old(l) == 3; //! assertion assertion
}
procedure impl(x: int, y: int) returns (r: int); requires x < y; modifies g; ensures r == x + old(g); ensures g == y;

implementation impl(y: int, x: int) returns (q: int)
{
  var r: int;
  r := 3;
  assert y < x;
  q := y + g;
  g := x;
}

implementation impl(a: int, b: int) returns (x: int)
{
  var y: int;
  y := 3;
  x := a + g;
  g := y;
} //! assertion postcondition

implementation impl(r: int, q: int) returns (y: int)
{
  var x: int;
  x := r;
  y := x + old(g);
  g := q;
}

procedure callimpl()
  modifies g;
{
  var x: int;
  g := 1;
  call x := impl(3, 4);
  assert x == 4;
  assert g == 4;
  call x := impl(x, x); //! possible-assertion precondition
}
