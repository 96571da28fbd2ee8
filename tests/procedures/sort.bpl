// Arrays in place: insertion sort, partition, maximum, reversal; `old` of the whole array under quantifiers.
var a: [int]int;

procedure insertion_sort(n: int)
  requires n >= 0;
  modifies a;
  ensures (forall i, j: int :: 0 <= i && i <= j && j < n ==> a[i] <= a[j]);
  ensures (forall i: int :: i < 0 || n <= i ==> a[i] == old(a)[i]);
{
  var i, j, t: int;
  i := 1;
  while (i < n)
    invariant 1 <= i;
    invariant n > 0 ==> i <= n;
    invariant (forall p, q: int :: 0 <= p && p <= q && q < i && q < n ==> a[p] <= a[q]);
    invariant (forall p: int :: p < 0 || n <= p ==> a[p] == old(a[p]));
  {
    t := a[i];
    j := i;
    while (j > 0 && a[j - 1] > t)
      invariant 0 <= j && j <= i;
      invariant (forall p, q: int :: 0 <= p && p <= q && q < i && q < j ==> a[p] <= a[q]);
      invariant (forall p, q: int :: 0 <= p && p < j && j < q && q <= i ==> a[p] <= a[q]);
      invariant (forall p, q: int :: j < p && p <= q && q <= i ==> a[p] <= a[q]);
      invariant (forall q: int :: j < q && q <= i ==> t < a[q]);
      invariant (forall p: int :: p < 0 || n <= p ==> a[p] == old(a[p]));
    {
      a[j] := a[j - 1];
      j := j - 1;
    }
    a[j] := t;
    i := i + 1;
  }
}

procedure partition(lo: int, hi: int) returns (p: int)
  requires lo < hi;
  modifies a;
  ensures lo <= p && p < hi;
  ensures (forall i: int :: lo <= i && i < p ==> a[i] <= a[p]);
  ensures (forall i: int :: p < i && i < hi ==> a[p] <= a[i]);
{
  var i, pivot, t: int;
  pivot := a[hi - 1]; p := lo; i := lo;
  while (i < hi - 1)
    invariant lo <= p && p <= i && i <= hi - 1;
    invariant (forall k: int :: lo <= k && k < p ==> a[k] <= pivot);
    invariant (forall k: int :: p <= k && k < i ==> pivot < a[k]);
    invariant a[hi - 1] == pivot;
  {
    if (a[i] <= pivot) { t := a[i]; a[i] := a[p]; a[p] := t; p := p + 1; }
    i := i + 1;
  }
  t := a[hi - 1]; a[hi - 1] := a[p]; a[p] := t;
}

procedure max_of(n: int) returns (m: int)
  requires n > 0;
  ensures (forall i: int :: 0 <= i && i < n ==> a[i] <= m);
  ensures (exists i: int :: 0 <= i && i < n && a[i] == m);
{
  var i: int; var w: int;
  m := a[0]; i := 1; w := 0;
  while (i < n)
    invariant 1 <= i && i <= n && 0 <= w && w < i && a[w] == m;
    invariant (forall k: int :: 0 <= k && k < i ==> a[k] <= m);
  { if (a[i] > m) { m := a[i]; w := i; } i := i + 1; }
}

procedure reverse(n: int)
  requires n >= 0;
  modifies a;
  ensures (forall i: int :: 0 <= i && i < n ==> a[i] == old(a)[n - 1 - i]);
{
  var i, j, t: int;
  i := 0; j := n - 1;
  while (i < j)
    invariant 0 <= i && i + j == n - 1 && j >= i - 1;
    invariant (forall k: int :: 0 <= k && k < i ==> a[k] == old(a)[n - 1 - k] && a[n - 1 - k] == old(a)[k]);
    invariant (forall k: int :: i <= k && k <= j ==> a[k] == old(a)[k]);
  { t := a[i]; a[i] := a[j]; a[j] := t; i := i + 1; j := j - 1; }
}
