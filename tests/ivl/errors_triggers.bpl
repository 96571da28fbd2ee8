//@ error 30:27 ivl-type: `==` cannot stand in a trigger
//@ error 31:27 ivl-type: a comparison cannot stand in a trigger
//@ error 32:27 ivl-type: a comparison cannot stand in a trigger
//@ error 33:27 ivl-type: `!` cannot stand in a trigger
//@ error 34:27 ivl-type: a connective cannot stand in a trigger
//@ error 35:27 ivl-type: a connective cannot stand in a trigger
//@ error 36:27 ivl-type: a connective cannot stand in a trigger
//@ error 37:27 ivl-type: a connective cannot stand in a trigger
//@ error 38:27 ivl-type: a connective cannot stand in a trigger
//@ error 39:27 ivl-type: a quantifier cannot stand in a trigger
//@ error 40:32 ivl-type: a quantifier cannot stand in a trigger
//@ error 41:32 ivl-type: a connective cannot stand in a trigger
//@ error 42:41 ivl-type: `==` cannot stand in a trigger
//@ error 43:47 ivl-type: a trigger is more than a variable
//@ error 44:27 ivl-type: a trigger is more than a variable
//@ error 45:28 ivl-type: a trigger is more than a variable
//@ error 46:27 ivl-type: this trigger does not mention the bound variable `x`
//@ error 47:27 ivl-type: this trigger does not mention the bound variable `x`
//@ error 48:45 ivl-type: this trigger does not mention the bound variable `y`
//@ error 49:34 ivl-type: a trigger is more than a variable
//@ error 50:34 ivl-type: `==` cannot stand in a trigger
//@ error 51:34 ivl-type: a connective cannot stand in a trigger
//@ error 52:34 ivl-name: no function is called `unknown`
// What cannot stand in a trigger, one a line.
function f(x: int): int;
function g(x: int): bool;
function h(x: int, y: int): int;
const c: int;
var m: [int]int;
axiom (forall x: int :: { f(x) == 3 } f(x) == 3);
axiom (forall x: int :: { f(x) < 3 } f(x) == 3);
axiom (forall x: int :: { f(x) >= 3 } f(x) == 3);
axiom (forall x: int :: { !g(x) } g(x));
axiom (forall x: int :: { g(x) && g(c) } g(x));
axiom (forall x: int :: { g(x) || g(c) } g(x));
axiom (forall x: int :: { g(x) ==> g(c) } g(x));
axiom (forall x: int :: { g(x) <== g(c) } g(x));
axiom (exists x: int :: { g(x) <==> g(c) } g(x));
axiom (forall x: int :: { (forall y: int :: g(h(x, y))) } g(x));
axiom (forall x: int :: { f(if (exists y: int :: g(h(x, y))) then 1 else 2) } g(x));
axiom (forall x: int :: { f(if g(x) && g(c) then x else 3) } g(x));
axiom (forall x: int, y: int :: { f(x), f(y) == 3 } g(x));
axiom (forall x: int, y: int :: { f(x), f(y), c } g(x));
axiom (forall x: int :: { c } g(x));
axiom (forall x: int :: { (x) } g(x));
axiom (forall x: int :: { f(c) } g(x));
axiom (forall x: int :: { 3 } g(x));
axiom (forall x: int :: (forall y: int :: { f(x) } g(h(x, y))));
axiom (forall x: int :: {:nopats x} g(x));
axiom (forall x: int :: {:nopats f(x) == 3} g(x));
axiom (forall x: int :: {:nopats g(x) && g(c)} g(x));
axiom (forall x: int :: {:nopats unknown(x)} g(x));
// These can.
axiom (forall x: int :: { f(x) != 3 } g(x));
axiom (forall x: int :: { if g(x) then f(x) else 3 } { f(x) + 1 } { -x } { x * 2 } g(x));
axiom (forall x: int :: {:nopats f(c)} {:nopats f(x + 1)} { f(x) mod 3 } g(x));
procedure p(n: [int]int)
{
  assume (forall x: int :: { old(m)[x] } { old(m[x]) } { n[x := 3] } g(x));
}
