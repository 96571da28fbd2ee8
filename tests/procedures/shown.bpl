// What a finding shows beside variables: elements of maps, functions, earlier values, parameters of a callee.
// trace: = with i = 2, m[m[i]] = 7, m[i] = 5
// trace: = with i = 3 (0x3), f(i) = -1 (0xff)
// trace: = with g = 4, old(g) = 4
// trace: = with g = 1, k = -2
// trace: = with i = 6, 5 at the beginning of the round, m[i] = false, true at the beginning of the round
procedure elements(m: [int]int, i: int)
{
  assume i == 2 && m[2] == 5 && m[5] == 7;
  assert m[m[i]] != 7; //! assertion assertion
}

function f(bv8): bv8;
procedure functions(i: bv8)
{
  assume i == 3bv8 && f(3bv8) == 255bv8;
  assert f(i) == i; //! assertion assertion
}

var g: int;
procedure earlier()
  modifies g;
  ensures g == old(g) + 1;
{
  assume g == 4;
} //! assertion postcondition

procedure callee(k: int);
  requires k >= g;
procedure parameters()
{
  assume g == 1;
  call callee(g - 3); //! possible-assertion precondition
}

procedure rounds(m: [int]bool)
{
  var i: int;
  assume i <= 5 && m[i];
  while (*)
    invariant i <= 5 && m[i]; //! possible-assertion invariant-maintenance
  {
    assume i == 5 && !m[6];
    i := i + 1;
  }
}
