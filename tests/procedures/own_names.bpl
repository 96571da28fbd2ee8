// What the contract says of its names is not said of others that a body calls so.
function {:bvbuiltin "bvult"} less(bv32, bv32) returns (bool);

procedure bounded(x: bv32) returns (r: bool);
  requires less(x, 5bv32);
  ensures r;

implementation bounded(y: bv32) returns (z: bool)
{
  var x: bv32;
  assert less(y, 5bv32);
  z := less(x, 5bv32);
} //! assertion postcondition

// The first block is the head of a loop.
procedure loop_at_start(n: int)
{
  var i: int;
  head:
    assert i == i;
    i := i + 1;
    goto head, done;
  done:
    assert i > n; //! possible-assertion assertion
}
