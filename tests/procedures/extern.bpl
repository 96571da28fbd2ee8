// Of declarations of one name, one that is not {:extern} stays, or the first.
const {:extern} c: int;
const c: bool;
var {:extern} v: int;
const v: bool;
type {:extern} t;
type t = int;
function {:extern} f(): bool;
function {:extern} f(): int;
function {:extern} g(): int;
procedure g();

procedure names(x: t)
{
  assert c || !c;
  assert v || !v;
  assert f() || !f();
  assert x + 1 > x;
  call g();
  assert c; //! possible-assertion assertion
}

// The body of one that gives way is still proved.
procedure {:extern} q(n: int)
{
  assert n > 0; //! assertion assertion
}
procedure q(n: int);

// Ignored, but its name is declared.
const {:ignore} k: int;
procedure {:ignore} ignored()
{
  assert false;
}

procedure uses_ignored()
{
  assert k == 1; //! assertion assertion
}
