// A sum over an array by axioms, followed by a loop; the broken loop adds the wrong element.
function sum([int]int, int, int) returns (int);
axiom (forall a: [int]int, i, j: int :: {sum(a, i, j)} j <= i ==> sum(a, i, j) == 0);
axiom (forall a: [int]int, i, j: int :: {sum(a, i, j)} i < j ==> sum(a, i, j) == sum(a, i, j - 1) + a[j - 1]);

procedure q17(a: [int]int, n: int) returns (s: int)
  requires n >= 0;
  ensures s == sum(a, 0, n);
{
  var i: int;
  i := 0;
  s := 0;
  while (i < n)
    invariant 0 <= i && i <= n;
    invariant s == sum(a, 0, i);
  {
    s := s + a[i];
    i := i + 1;
  }
}

procedure q18(a: [int]int, n: int) returns (s: int)
  requires n >= 0;
  ensures s == sum(a, 0, n);
{
  var i: int;
  i := 0;
  s := 0;
  while (i < n)
    invariant 0 <= i && i <= n;
    invariant s == sum(a, 0, i); //! possible-assertion invariant-maintenance
  {
    i := i + 1;
    s := s + a[i];
  }
}
