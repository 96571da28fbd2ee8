// Invariants: on entry and after a round; free ones are assumed; what a loop assigns is arbitrary behind it.
procedure sum(n: int) returns (s: int)
  requires n >= 0;
  ensures 2 * s == n * (n + 1);
{
  var i: int;
  i := 0;
  s := 0;
  while (i < n)
    invariant 0 <= i && i <= n;
    invariant 2 * s == i * (i + 1);
  {
    i := i + 1;
    s := s + i;
  }
}

procedure entry(n: int)
{
  var i: int;
  i := n;
  while (i > 0)
    invariant i >= 0; //! assertion invariant-entry
  {
    i := i - 1;
  }
  assert i <= 0;
}

procedure maintenance(n: int)
{
  var i, j: int;
  i := 0;
  j := 0;
  while (i < n)
    invariant i >= 0;
    invariant j == i; //! possible-assertion invariant-maintenance
  {
    i := i + 1;
    if (*) {
      j := j + 1;
    }
  }
  assert j == i;
}

procedure forgets(n: int)
{
  var i, kept: int;
  i := 0;
  kept := 7;
  while (i < n)
  {
    i := i + 1;
  }
  assert kept == 7;
  assert i >= 0;
}

procedure free_invariant(n: int)
{
  var i: int;
  i := 0;
  while (i < n)
    free invariant i >= 0;
  {
    i := i + 1;
  }
  assert i >= 0;
}

procedure by_labels(n: int)
{
  var i, j, n_local: int;
  i := 0;
  j := 0;
  head:
    assume i > -1;
    assert i <= 10; //! possible-assertion invariant-maintenance
    assert {:msg "j never changes"} j == 0;
    goto body, done;
  body:
    assume i < 10;
    i := i + 2 + j;
    havoc n_local;
    i := i + n_local;
    goto head;
  done:
    assert j == 0;
}

procedure nested(n: int, m: int)
  requires n >= 0 && m >= 0;
{
  var i, j, total: int;
  i, j, total := 0, 0, 0;
  while (i < n)
    invariant i <= n;
    invariant total == i * m;
  {
    j := 0;
    while (j < m)
      invariant j <= m;
      invariant total == i * m + j;
    {
      j := j + 1;
      total := total + 1;
    }
    i := i + 1;
  }
  assert total == n * m;
}

procedure leaves_early(a: [int]int, n: int, x: int) returns (found: bool)
  ensures found ==> (exists k: int :: 0 <= k && k < n && a[k] == x);
  ensures !found ==> (forall k: int :: 0 <= k && k < n ==> a[k] != x);
{
  var i: int;
  i := 0;
  found := false;
  while (i < n)
    invariant 0 <= i;
    invariant (forall k: int :: 0 <= k && k < i ==> a[k] != x);
    invariant !found;
  {
    if (a[i] == x) {
      found := true;
      break;
    }
    i := i + 1;
  }
}
