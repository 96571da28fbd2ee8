//@ error 28:7 ivl-attribute: the attribute {:verified_under} takes one argument
//@ error 29:6 ivl-attribute: the attribute {:minimize} takes one argument
//@ error 31:19 ivl-attribute: an {:assumption} variable has no where clause
//@ error 32:10 ivl-attribute: the attribute {:maximize} takes one argument
//@ error 33:7 ivl-attribute: the attribute {:verified_under} takes one argument
//@ error 39:25 ivl-name: no variable is called `nobody`
//@ error 41:16 ivl-attribute: the attribute {:minimize} takes one argument
//@ error 43:20 ivl-type: `old` stands only in postconditions and procedure bodies
//@ error 44:7 ivl-attribute: the attribute {:verified_under} takes one argument
//@ error 51:21 ivl-attribute: an {:assumption} variable has no where clause
//@ error 51:24 ivl-attribute: an {:assumption} variable has no where clause
//@ error 51:27 ivl-attribute: an {:assumption} variable has no where clause
//@ error 54:10 ivl-attribute: the attribute {:verified_under} takes one argument
//@ error 55:10 ivl-attribute: the attribute {:maximize} takes one argument
//@ error 56:8 ivl-attribute: the attribute {:verified_under} takes one argument
//@ error 58:15 ivl-attribute: the attribute {:minimize} takes one argument
//@ error 61:3 ivl-attribute: the {:assumption} variable `a` is assigned as in `a := a && e`
//@ error 62:3 ivl-attribute: the {:assumption} variable `a` is assigned as in `a := a && e`
//@ error 63:3 ivl-attribute: the {:assumption} variable `a` is assigned as in `a := a && e`
//@ error 64:3 ivl-attribute: the {:assumption} variable `a` is assigned as in `a := a && e`
//@ error 64:6 ivl-attribute: the {:assumption} variable `b` is assigned as in `b := b && e`
//@ error 65:3 ivl-attribute: the {:assumption} variable `a` is assigned as in `a := a && e`
//@ error 68:5 ivl-attribute: the {:assumption} variable `once` is assigned a second time
//@ error 70:3 ivl-attribute: the {:assumption} variable `global` is assigned as in `global := global && e`
//@ error 74:18 ivl-attribute: the attribute {:verified_under} takes one argument
//@ error 74:73 ivl-name: no variable is called `nobody`
// Attributes that take one argument, and the rules of assumption variables: all are looked at with names.
const {:verified_under} c: int;
type {:minimize} T;
var {:assumption} global: bool;
var {:assumption} restricted: bool where restricted;
function {:maximize c, c} f(x: int): int;
axiom {:verified_under true, false} true;

procedure {:foo r, x, global} heads(x: int) returns (r: int);
  requires {:verified_under} {:foo nobody} true;
  ensures {:verified_under 1, 2} true;

procedure unknown({:foo nobody} x: int);

implementation {:minimize} {:foo local} heads(x: int) returns (r: int)
{
  var {:foo other, old(c)} local: int;
  var {:verified_under} other: int;
  other := {:foo nobody} {:verified_under} x;
}

procedure statements(n: int)
  modifies global;
{
  var {:assumption} a, b, once: bool where n > 0;
  var {:assumption false} d: bool where n > 0;
  var {:assumption} m: bool;
  assert {:verified_under} n > 0;
  assume {:maximize n, n} n > 0;
  call {:verified_under n > 0, "x"} other();
  while (*)
    invariant {:minimize} n > 0;
  {
  }
  a := true;
  a := a || n > 0;
  a := n > 0 && a;
  a, b := b && n > 0, a && n > 1;
  a := (a && n > 0) && n > 1;
  once := once && n > 0;
  if (*) {
    once := (once) && n > 1;
  }
  global := n > 0;
  havoc m;
  call m := gives();
  d := n > 0;
  assume (forall {:verified_under} x: int :: {:verified_under} {:foo x, nobody} x == x);
}

procedure other();
procedure gives() returns (r: bool);

procedure again()
  modifies global;
{
  var {:assumption} a: bool;
  a := a && true;
  global := global && a;
}
