// Attributes of functions that are given twice, or in another form: which one counts.
function {:inline false} {:inline} grows(x: int): int { if x <= 0 then 0 else grows(x - 1) + 1 }
function {:bvbuiltin "bvsub"} {:builtin "bvadd"} less(x: bv8, y: bv8): bv8;
function {:bvbuiltin} unknown(x: bv8): bv8;
function {:bvbuiltin "bvadd"} {:inline} first(x: bv8, y: bv8): bv8 { x }

procedure functions()
{
  assert grows(1) == 1;
  assert less(2bv8, 1bv8) == 1bv8;
  assert first(2bv8, 1bv8) == 2bv8;
  assert unknown(1bv8) == 1bv8; //! possible-assertion assertion
}
