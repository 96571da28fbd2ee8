// Blocks and gotos: loops with several ways back, blocks that nothing leads to, what is behind `assume false`.
procedure g1(n: int) returns (r: int) ensures r >= 0;
{
  var i: int;
start: i := 0; r := 0; goto head;
head:
  assert r >= 0; assert i >= 0;
  goto body, done;
body: assume i < n; i := i + 1; goto x, y;
x: r := r + 1; goto head;
y: assume i > 3; r := r + 2; goto head, early;
early: return;
done: assume i >= n; return;
}
procedure g2(n: int)
{
  var i: int;
A: i := 0; goto B;
B: assert i >= 0; goto C, D;
C: i := i + 1; goto E, F;
D: assume false; assert false; return;
E: assert i == 1; goto B; //! possible-assertion assertion
F: goto G;
G: assert i > 0; goto G1, H; //! possible-assertion invariant-maintenance
G1: i := i - 1; goto G;
H: return;
U: assert false; goto U;
}

procedure g5(x: int)
{
  assume false;
  assert false;
}

procedure g6(x: int)
  requires false;
{
  assert false;
}

procedure g7()
{
  return;
}

procedure g8()
{
}

procedure g9()
  ensures false;
{
  while (true) {
  }
}

procedure g10()
  ensures false;
{
  return; //! assertion postcondition
}

procedure g11()
{
L:
  goto L;
}

procedure g12(b: bool)
{
  var x: int;
  x := 0;
  if (b) {
  L:
    x := x + 1;
    goto L;
  }
  assert !b;
  assert x == 0;
  assert x == 1; //! assertion assertion
}

procedure g13(n: int)
{
  var i: int;
  i := 0;
outer:
  while (true)
    invariant i >= 0;
  {
    while (true)
      invariant i >= 0;
    {
      if (i > n) {
        break outer;
      }
      i := i + 1;
      if (*) {
        break;
      }
    }
  }
  assert i > n;
  assert i > n + 1; //! possible-assertion assertion
}
