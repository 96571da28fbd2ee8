// Houdini: a procedure that calls itself, and its user.
// inferred: a = true, b = false, c = true, d = true
const {:existential true} a: bool; const {:existential true} b: bool; const {:existential true} c: bool; const {:existential true} d: bool;
var x: int;

procedure p(n: int) returns (r: int)
  requires a ==> n >= 0;
  requires b ==> n > 5;
  ensures c ==> r >= 0;
  ensures d ==> r == 0;
{
  if (n > 0) {
    call r := p(n - 1);
  } else {
    r := 0;
  }
}

procedure q()
{
  var r: int;
  call r := p(10);
  assert r >= 0;
  assert r == 0;
  assert r == 1; //! possible-assertion assertion
}
