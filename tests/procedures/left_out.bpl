// Declarations that do not count: `{:ignore}`, and `{:extern}` beside another of the same name.
axiom {:ignore} false;
procedure {:ignore} not_looked_at() { assert false; }
procedure counts() { assert false; } //! assertion assertion

procedure has_bodies(x: int);
implementation {:ignore} has_bodies(x: int) { assert false; }
implementation has_bodies(x: int) { assert x == x; }

const {:extern} c: int;
const c: int;
axiom c == 3;
type {:extern} T;
type T;
var {:extern} g: int;
var {:extern} g: int;
function {:extern} next(x: int): int;
function next(x: int): int { x + 1 }
function {:extern} before(x: int): int { x - 1 }
procedure {:extern} is_declared(x: int);
procedure is_declared(x: int)
  modifies g;
{
  g := c;
  assert g == 3;
  assert next(1) == 2;
  assert before(1) == 0;
  assert next(1) == 3; //! assertion assertion
}
