// Maps of maps, equality of maps, updates that change nothing.
procedure q5(m: [int][int]int)
  requires (forall i: int :: (forall j: int :: m[i][j] >= 0));
{
  var n: [int][int]int;
  assert m[2][3] >= 0;
  n := m;
  n[1][2] := 5;
  assert (forall i, j: int :: n[i][j] >= 0);
  n[1][2] := -5;
  assert n[0][2] >= 0;
  assert n[1] == m[1]; //! possible-assertion assertion
  assert (forall i, j: int :: n[i][j] >= 0);
}

procedure q6(m: [int]int, n: [int]int)
  requires m == n;
{
  assert m[3] == n[3];
  assert m[4 := 3] == n[4 := 3];
  assert m[4 := m[4]] == m; //! possible-assertion assertion
}

procedure q7(m: [int]int, n: [int]int, i: int)
{
  assert m[i := 2][i := 3] == m[i := 3]; //! possible-assertion assertion
}

procedure q8(m: [int][int]int)
{
  var k: [int]int;
  k := m[1];
  k[2] := 9;
  assert m[1 := k][1][2] == 9;
  assert m[1 := k][2] == m[2];
  assert m[1 := k][1] == k;
  assert m[1] == k; //! possible-assertion assertion
}
