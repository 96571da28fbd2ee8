// Maps: read over write, two indices, maps of maps; equal elements do not make equal maps.
type Ref;
const unique null: Ref;
const unique head: Ref;
var heap: [Ref]int;
var next: [Ref]Ref;

procedure read_over_write(m: [int]int, i: int, j: int)
{
  var n: [int]int;
  n := m[i := 5];
  assert n[i] == 5;
  assert i != j ==> n[j] == m[j];
  assert n[j] == m[j]; //! possible-assertion assertion
}

procedure two_indices(m: [int, bool]bv8)
{
  var n: [int, bool]bv8;
  n := m[3, true := 7bv8];
  assert n[3, true] == 7bv8;
  assert n[3, false] == m[3, false];
  assert n[4, true] == m[4, true];
  n[3, false] := 1bv8;
  assert n[3, true] == 7bv8 && n[3, false] == 1bv8;
}

procedure of_maps(m: [int][int]int)
{
  var n: [int][int]int;
  n := m;
  n[1][2] := 3;
  assert n[1][2] == 3;
  assert n[1][3] == m[1][3];
  assert n[2] == m[2];
  assert n[1] == m[1]; //! possible-assertion assertion
}

procedure not_extensional(m: [int]int, n: [int]int)
  requires (forall i: int :: m[i] == n[i]);
{
  assert m[4] == n[4];
  assert m == n; //! possible-assertion assertion
}

procedure unique_constants(r: Ref)
{
  assert null != head;
  assert r == null || r == head; //! assertion assertion
}

procedure update(r: Ref)
  requires r != null;
  modifies heap;
  ensures heap[r] == old(heap)[r] + 1;
  ensures (forall o: Ref :: o != r ==> heap[o] == old(heap[o]));
{
  heap[r] := heap[r] + 1;
}

procedure caller(r: Ref, s: Ref)
  modifies heap;
{
  var before: int;
  before := heap[s];
  call update(r); //! possible-assertion precondition
  assert s != r ==> heap[s] == before;
  assert heap[s] == before; //! possible-assertion assertion
}
