// Binary search: what is outside of the two ends does not have the key; a step too far misses elements.
procedure binary_search(a: [int]int, n: int, key: int) returns (r: int)
  requires 0 <= n;
  requires (forall i, j: int :: 0 <= i && i < j && j < n ==> a[i] <= a[j]);
  ensures 0 <= r ==> r < n && a[r] == key;
  ensures r < 0 ==> (forall i: int :: 0 <= i && i < n ==> a[i] != key);
{
  var lo, hi, mid: int;
  lo := 0; hi := n;
  while (lo < hi)
    invariant 0 <= lo && lo <= hi && hi <= n;
    invariant (forall i: int :: 0 <= i && i < n && !(lo <= i && i < hi) ==> a[i] != key);
  {
    mid := (lo + hi) div 2;
    if (a[mid] < key) { lo := mid + 1; }
    else if (key < a[mid]) { hi := mid; }
    else { r := mid; return; }
  }
  r := -1;
}

procedure binary_search_wrong(a: [int]int, n: int, key: int) returns (r: int)
  requires 0 <= n;
  requires (forall i, j: int :: 0 <= i && i < j && j < n ==> a[i] <= a[j]);
  ensures 0 <= r ==> r < n && a[r] == key;
  ensures r < 0 ==> (forall i: int :: 0 <= i && i < n ==> a[i] != key);
{
  var lo, hi, mid: int;
  lo := 0; hi := n;
  while (lo < hi)
    invariant 0 <= lo && lo <= hi && hi <= n; //! possible-assertion invariant-maintenance
    invariant (forall i: int :: 0 <= i && i < n && !(lo <= i && i < hi) ==> a[i] != key); //! possible-assertion invariant-maintenance
  {
    mid := (lo + hi) div 2;
    if (a[mid] < key) { lo := mid + 2; }
    else if (key < a[mid]) { hi := mid - 1; }
    else { r := mid; return; }
  }
  r := -1;
}
