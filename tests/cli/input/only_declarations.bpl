// exit: 0
// stderr: note: `tests/cli/input/only_declarations.bpl` has no body to prove
const c: int;
axiom c > 0;
procedure p(x: int) returns (r: int);
  ensures r > x + c;
