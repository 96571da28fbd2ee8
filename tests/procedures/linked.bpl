// A heap as one map of object and field, allocation, frames by quantifiers, lists.
type Ref; type Field;
const unique null: Ref;
const unique data: Field; const unique size: Field;
var H: [Ref, Field]int;
var next: [Ref]Ref;
var alloc: [Ref]bool;
function reach([Ref]Ref, Ref, Ref) returns (bool);
axiom (forall n: [Ref]Ref, x: Ref :: {reach(n, x, x)} reach(n, x, x));
axiom (forall n: [Ref]Ref, x, y: Ref :: {reach(n, x, y), n[x]} reach(n, n[x], y) ==> reach(n, x, y));
procedure New() returns (r: Ref)
  modifies alloc;
  ensures r != null && !old(alloc[r]) && alloc == old(alloc)[r := true];
{
  havoc r; assume r != null && !alloc[r]; alloc[r] := true;
}
procedure two() modifies alloc, H, next;
{
  var a, b: Ref;
  call a := New(); call b := New();
  assert a != b;
  H[a, data] := 1; H[b, data] := 2; H[a, size] := 7;
  assert H[a, data] == 1 && H[b, data] == 2;
  next[a] := b; next[b] := null;
  assert next[next[a]] == null;
  assert reach(next, a, a);
  assert reach(next, a, null);
  assert H[b, size] == 7; //! possible-assertion assertion
}
procedure frame(r: Ref, f: Field, v: int)
  modifies H;
  ensures (forall o: Ref, g: Field :: {H[o, g]} (o == r && g == f) || H[o, g] == old(H[o, g]));
  ensures H[r, f] == v;
{ H[r, f] := v; }
procedure frame_bad(r: Ref, f: Field, v: int)
  modifies H;
  ensures (forall o: Ref, g: Field :: {H[o, g]} (o == r && g == f) || H[o, g] == old(H[o, g]));
{ H[r, f] := v; H[null, f] := 0; } //! possible-assertion postcondition
procedure client(p: Ref, q: Ref)
  requires p != q; requires H[q, data] == 5;
  modifies H;
{
  call frame(p, data, 9);
  assert H[q, data] == 5;
  call frame_bad(q, size, 1);
  assert H[p, data] == 9;
  assert H[q, size] == 1; //! possible-assertion assertion
}
procedure length(l: Ref) returns (n: int)
  ensures n >= 0;
{
  var c: Ref; c := l; n := 0;
  while (c != null) invariant n >= 0; { c := next[c]; n := n + 1; }
}
procedure fresh_set(s: [Ref]bool) returns (t: [Ref]bool)
  ensures (forall r: Ref :: t[r] <==> (s[r] || r == null));
{ t := s; t[null] := true; }
procedure fresh_set_bad(s: [Ref]bool) returns (t: [Ref]bool)
  ensures (forall r: Ref :: t[r] <==> s[r] && r != null);
{ t := s; t[null] := true; } //! possible-assertion postcondition
