// What contracts and axioms say bounds integers at loop heads, as in Boogie; what where clauses say does not.
const N: int;
axiom N >= 3;
var g: int;
var h: int where h >= 1;

procedure free_bound(); modifies g; free ensures g >= 0;
procedure bound(); modifies g; requires g <= 9; ensures g >= 0;
procedure more(k: int) returns (z: int); ensures z >= k;
procedure step(); modifies g; ensures g == old(g) + 1;

procedure by_free_ensures() modifies g;
{
  call free_bound();
  while (*) { call free_bound(); }
  assert g >= 0;
  assert g >= 1; //! possible-assertion assertion
}

procedure by_ensures() modifies g;
{
  g := 2;
  while (*) { call bound(); } //! possible-assertion precondition
  assert g >= 0;
}

procedure by_requires() modifies g;
{
  while (*) { call bound(); g := 9; } //! possible-assertion precondition
  assert g <= 9; //! possible-assertion assertion
}

procedure by_argument() returns (z: int)
{
  call z := more(3);
  while (*) { call z := more(5); }
  assert z >= 3;
  assert z >= 5; //! possible-assertion assertion
}

procedure by_old() modifies g;
{
  g := 4;
  while (*) { call step(); }
  assert g >= 4;
  assert g <= 4; //! possible-assertion assertion
}

procedure by_where() returns (z: int) modifies h;
{
  z := 1;
  while (*) { havoc h; z := h; }
  assert z >= 1; //! possible-assertion assertion
}

procedure by_axiom() returns (z: int)
{
  z := N;
  while (*) { z := z + N; }
  assert z >= 3;
  assert z >= 4; //! possible-assertion assertion
}
