// Quantifiers: nested, existential ones as assumptions, triggers of one and of several terms.
// boogie: whether `exists` is proved depends on the terms that other assertions give
procedure q1(b: [bool]int)
{
  assert (forall x: bool :: b[x] == b[true] || b[x] == b[false]);
var_:
  assert b[true] == b[false]; //! possible-assertion assertion
}

procedure q3(m: [int]int)
  requires (exists x: int :: m[x] == 3);
{
  var y: int;
  assume (forall x: int :: m[x] > 3);
  assert false;
}

procedure q4(m: [int]int)
  requires (exists x: int :: m[x] == 3);
{
  assert (exists x: int :: m[x] == 3);
  assert (exists x: int :: m[x] > 2);
  assert (exists x: int :: m[x] > 3); //! possible-assertion assertion
}
function R(int, int) returns (bool);
axiom (forall x, y, z: int :: {R(x, y), R(y, z)} R(x, y) && R(y, z) ==> R(x, z));

procedure q9()
{
  assume R(1, 2);
  assume R(2, 3);
  assume R(3, 4);
  assert R(1, 3);
  assert R(1, 4);
  assert R(4, 1); //! possible-assertion assertion
}

procedure q10(n: int)
  requires (forall x: int :: {R(x, n)} R(x, n) ==> (exists y: int :: R(y, x)));
{
  assume R(5, n);
  assert (exists y: int :: R(y, 5));
  assert (exists y: int :: R(5, y));
  assert (exists y: int :: R(y, y)); //! possible-assertion assertion
}
function h(int) returns (int);

procedure q11()
  requires (forall x: int :: {h(x)} h(x) > 0);
{
  assert (forall x: int :: h(x) >= 1);
  assert (forall x: int :: h(h(x)) > 1); //! possible-assertion assertion
}

procedure q12()
  requires (forall x: int :: h(x) > 0);
{
  assert (forall x: int :: {h(x)} (exists y: int :: {h(y)} h(y) == h(x))); //! possible-assertion assertion
}

procedure q13(a: [int]int)
{
  assert (forall i: int :: i == 3 ==> a[i] == a[3]);
  assert (forall i: int, b: bool :: b ==> i == i);
  assert (exists i: int :: i > 5); //! possible-assertion assertion
  assert (exists i: int :: i * i == 25); //! possible-assertion assertion
}
