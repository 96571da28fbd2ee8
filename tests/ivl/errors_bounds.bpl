//@ error 6:12 ivl-syntax: the places of bits stand in no parentheses
//@ error 9:12 ivl-syntax: the places of bits are numbers
//@ error 12:21 ivl-syntax: unexpected `<==`
// Places of bits, and sides that mix.
function f(x: int): int;
axiom 5bv8[(4:0)] == 5bv4;
const a: int;
const b: int;
axiom 5bv8[f(1):0] == 5bv4;
const c: int;
const d: int;
axiom f(1) ==> f(2) <== if true then true else true;
