// Bit-vectors under names of the program's own, concatenation, extraction.
function {:bvbuiltin "bvadd"} $add.i32(bv32, bv32) returns (bv32);
function {:bvbuiltin "bvult"} $ult.i32(bv32, bv32) returns (bool);
function {:bvbuiltin "bvslt"} $slt.i32(bv32, bv32) returns (bool);
function {:bvbuiltin "bvand"} $and.i32(bv32, bv32) returns (bv32);
function {:bvbuiltin "zero_extend 32"} $zext(bv32) returns (bv64);

procedure wraps(x: bv32)
{
  assert $add.i32(x, 0bv32) == x;
  assert $ult.i32(x, 4294967295bv32) ==> $ult.i32(x, $add.i32(x, 1bv32));
  assert $ult.i32(x, $add.i32(x, 1bv32)); //! assertion assertion
}

procedure parts(x: bv32)
{
  assert x[32:16] ++ x[16:0] == x;
  assert $zext(x)[64:32] == 0bv32;
  assert $zext(x)[32:0] == x;
  assert $and.i32(x, 255bv32)[8:0] == x[8:0];
  assert x[8:0] == x[16:8]; //! assertion assertion
}

procedure signs(x: bv32)
  requires $slt.i32(x, 0bv32);
{
  assert $ult.i32(2147483647bv32, x);
  assert $slt.i32($add.i32(x, 1bv32), 1bv32);
  assert $slt.i32($add.i32(x, 4294967295bv32), 0bv32); //! assertion assertion
}
