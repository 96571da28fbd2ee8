// Maps without an index hold one element.
var cell: []int;

procedure updates(m: []int, n: [][int]int, o: [int][]int)
  modifies cell;
{
  var k: [int][]int;
  cell[] := 3;
  assert cell[] == 3;
  assert m[:= 4][] == 4;
  assert cell == old(cell)[:= 3];
  k := o;
  k[1][] := 5;
  assert k[1][] == 5 && k[2] == o[2];
  assert n[][4] == n[][4];
  assert m[] == 3; //! possible-assertion assertion
}

procedure not_extensional(m: []int, n: []int)
{
  assume m[] == n[];
  assert m == n; //! assertion assertion
}

procedure quantified(m: []int)
{
  assume (forall o: []int :: { o[] } o[] > 0);
  assert m[] > 0;
  assert m[] > 1; //! possible-assertion assertion
}
