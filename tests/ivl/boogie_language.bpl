//@ snapshot
/* Boogie's core, all of it. /* Comments nest. */ */

type Ref, Key;
type {:attribute "x", 1 + 1} Field a;
type Pair a b;
type Heap = Map Ref int, Map k v = [k]v;
type Set a = [a]bool;

const {:existential true} b0: bool;
const unique first, second: Ref;
const atomic, barrier, fence, global, shared: int;

var heap: Heap where heap[first] >= 0;
var {:kept} x, y: int where x < y, set: Set (Pair int (Field bool)), map: [int][int]int;

function sum(x, y: int, deep: bool): int { if deep then x + y else sum(y, x, true) }
function unnamed(int, Pair int [int]bool) returns (result: Ref);
function {:inline} positive(x: int) returns (bool) { x > 0 }
function {:bvbuiltin "bvadd"} $add(bv8, bv8): bv8;
function {:builtin "bvnand"} nand(p, q: bv8): bv8;
function {:bvbuiltin "(_ rotate_left 3)"} rotated(bv8): bv8;
function {:bvbuiltin "rotate_right 11"} rotated_right(bv8): bv8;
function {:bvbuiltin "bvcomp"} same(bv8, bv8): bv1;
function {:bvbuiltin "bvsmod"} modulo(bv8, bv8): bv8;
function {:bvbuiltin "repeat 3"} three(bv8): bv24;

axiom (forall x: int, r: Ref :: {:weight 2} { sum(x, 0, true), unnamed(x, pair(r)) } {:nopats sum(x, 1, true)}
  (exists y: int :: y == x) ==> true);
function pair(Ref): Pair int [int]bool;
axiom true <== false <== true;
axiom (true ==> false) <==> false;
axiom (1 : int) == 1 && !!positive(- -1) && -5 div 2 mod 3 < 2;
axiom same($add(nand(1bv8, 2bv8), rotated(3bv8)), modulo(4bv8, 5bv8)) == 1bv1;
axiom three(rotated_right(1bv8))[8:0] ++ 1bv8 != 0bv16;

procedure declared(x: int where x > 0, y: int where y > x) returns (heap: int where heap > x);
  modifies;
  free requires true;
  ensures {:first} heap > y;
  requires {:second} x != 7;
  modifies x, y;
  free ensures old(first) == first;

implementation {:inline 1} declared(a: int, x: int) returns (y: int)
{
  var map: int where map > a, heap: bool;
  y := map + x;
  havoc map, y;
  return;
  y := 3;
  goto end, other;
other:
  y := 4;
end:
}

implementation declared(a: int, b: int) returns (c: int) { }

procedure statements(n: int) returns (r: int)
  modifies map, x, y;
  requires n > 0;
{
  var first: int;
  var p: [int, bool]Ref;

  call r := declared(1, 2);
  call {:attribute} first := declared(r, n);
  free call r := declared(first, first);
  map[n], p[n, true] := map[n][r := 1], unnamed(first, pair(second));
  map[0][n] := old(map)[n][0];
  assert {:subsumption 0} (forall map: int :: map == map && (exists y: bool :: y));
outer: again:
  while (*)
    invariant {:kept} r >= 0 || x < y;
    free invariant true;
  {
    if (r > 0) { break; } else if (*) { break again; } else { first := 1; }
  branch:
    if (first == 1) { break branch; }
    while (true) { break again; first := 2; }
  }
  assume {:captureState "end"} atomic == barrier;
last: end: done:
}
