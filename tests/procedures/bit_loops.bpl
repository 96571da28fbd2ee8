// Loops over bit-vectors: proved over integers, refuted by a model over integers that an execution confirms.
function {:bvbuiltin "bvadd"} add(bv32, bv32): bv32;
function {:bvbuiltin "bvmul"} mul(bv32, bv32): bv32;
function {:bvbuiltin "bvult"} less(bv32, bv32): bool;
function {:bvbuiltin "bvule"} at_most(bv32, bv32): bool;
function h(bv32): bv32;

procedure strided(n: bv32) returns (i: bv32)
  requires at_most(n, 1000000bv32);
{
  i := 0bv32;
  while (less(i, n))
    invariant at_most(i, 1000127bv32);
  {
    i := add(i, 128bv32);
  }
  assert at_most(n, i);
  assert less(i, 1000128bv32);
  assert less(i, 1000127bv32); //! possible-assertion assertion
}

procedure wraps(n: bv32) returns (i: bv32)
{
  i := n;
  while (less(i, 100bv32))
  {
    i := add(i, 1bv32);
  }
  assert less(i, add(i, 1bv32)); //! possible-assertion assertion
}

procedure product(n: bv32) returns (i: bv32)
{
  i := 0bv32;
  while (less(i, n))
  {
    assert less(mul(i, 4bv32), mul(n, 4bv32)); //! possible-assertion assertion
    i := add(i, 1bv32);
  }
}

procedure functions(a: bv32, b: bv32) returns (i: bv32)
{
  i := a;
  while (less(i, b))
  {
    i := add(i, 1bv32);
  }
  assert i == b ==> h(h(i)) == h(h(b));
  assert h(h(i)) == h(b) ==> h(i) == b; //! possible-assertion assertion
  assert h(i) != h(b); //! possible-assertion assertion
}

procedure before_the_loop(a: bv32, b: bv32) returns (i: bv32)
{
  assert less(h(a), 8bv32) || h(add(a, 4294967295bv32)) == b; //! assertion assertion
  i := a;
  while (less(i, b)) { i := add(i, 1bv32); }
}
