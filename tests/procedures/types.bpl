// Declared types: constants that differ, synonyms, constructors.
type T; const unique t1: T; const unique t2: T; const t3: T;

procedure q14()
{
  assert t1 != t2;
  assert t3 == t1 || t3 == t2 || true;
  assert (forall t: T :: t == t1); //! possible-assertion assertion
  assert t3 != t1; //! possible-assertion assertion
}
type Pair = [int]bool; type C _; type D a = [a]int;

procedure q15(p: Pair, c: C int, d: D bool, e: C int)
{
  assert d[true] == d[true];
  assert p[1] || !p[1];
  assert c == e; //! assertion assertion
}
