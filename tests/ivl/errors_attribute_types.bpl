//@ error 20:7 ivl-type: the attribute {:verified_under} takes bool, not int
//@ error 21:21 ivl-type: an {:assumption} variable is bool, not int
//@ error 22:16 ivl-type: the right side of `+` is int, not bool
//@ error 23:19 ivl-type: an {:assumption} variable is bool, not int
//@ error 24:5 ivl-type: the attribute {:verified_under} takes bool, not a text
//@ error 25:20 ivl-type: the right side of `+` is int, not bool
//@ error 26:7 ivl-type: the attribute {:maximize} takes int or a bit-vector, not bool
//@ error 28:11 ivl-type: the attribute {:minimize} takes int or a bit-vector, not a text
//@ error 28:43 ivl-type: an {:assumption} variable is bool, not int
//@ error 28:104 ivl-type: an {:assumption} variable is bool, not int
//@ error 32:30 ivl-type: the right side of `+` is int, not bool
//@ error 34:21 ivl-type: an {:assumption} variable is bool, not int
//@ error 36:21 ivl-type: an {:assumption} variable is bool, not [int]bool
//@ error 38:10 ivl-type: the attribute {:verified_under} takes bool, not int
//@ error 40:10 ivl-type: the attribute {:minimize} takes int or a bit-vector, not bool
//@ error 41:10 ivl-type: the attribute {:maximize} takes int or a bit-vector, not [int]int
//@ error 43:8 ivl-type: the attribute {:verified_under} takes bool, not int
//@ error 44:54 ivl-type: the right side of `+` is int, not bool
// Types in attributes, and those of assumption variables; all names are known.
const {:verified_under 3} c: int;
const {:assumption} e: int;
type {:foo 1 + true} T;
var {:assumption} g: int;
var {:verified_under "x"} h: int;
function {:foo x + true} f(x: int): int;
axiom {:maximize true} true;

procedure {:minimize "n"} p({:assumption} n: int, b: bool, v: bv8, m: [int]int) returns ({:assumption} r: int);
  requires {:verified_under 3} true;
  ensures {:foo 1 + true} true;

implementation {:foo local + true} p(n: int, b: bool, v: bv8, m: [int]int) returns (r: int)
{
  var {:assumption} local: int;
  var {:assumption false} plain: int;
  var {:assumption} map: [int]bool;
  map[3] := map[3] && b;
  assert {:verified_under n} b;
  assert {:verified_under b} {:minimize n} {:maximize v} b;
  assume {:minimize b} b;
  assume {:maximize m} b;
  r := {:foo 1 + true} n;
  call {:verified_under 3} q();
  assume (forall {:foo 1 + true} x: int :: {:foo x + true} x == x);
}

procedure q();
