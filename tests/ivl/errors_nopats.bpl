//@ error 11:33 ivl-syntax: it is written {:nopats e}, with one term
//@ error 12:25 ivl-syntax: it is written {:nopats e}, with one term
//@ error 13:25 ivl-syntax: it is written {:nopats e}, with one term
//@ error 14:15 ivl-syntax: `{:nopats}` stands behind `::`
//@ error 15:18 ivl-syntax: a parameter or result of an implementation has no where clause; the one of its procedure holds
//@ error 16:25 ivl-syntax: a parameter or result of an implementation has no attributes; those of its procedure hold
//@ error 17:35 ivl-syntax: a parameter or result of an implementation has no where clause; the one of its procedure holds
//@ error 18:44 ivl-syntax: unexpected `{:foo`
// An attribute that names one term, behind the bound variables.
function f(x: int): int;
axiom (forall x: int, y: int :: {:nopats f(x), f(y)} f(x) == f(y));
axiom (forall x: int :: {:nopats "f"} f(x) == 3);
axiom (forall x: int :: {:nopats} f(x) == 3);
axiom (forall {:nopats f(1)} x: int :: f(x) == 3);
implementation p(x: int where x > 0) { }
implementation p({:foo} x: int) { }
implementation p(x: int) returns (r: int where r > 0) { }
procedure q() returns (x: int) { call x := {:foo} q(); }
