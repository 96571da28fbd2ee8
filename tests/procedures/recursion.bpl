// Recursion by contracts, mutual and nested; axioms that define a function step by step.
procedure fact(n: int) returns (r: int)
  requires n >= 0;
  ensures r >= 1;
{
  if (n == 0) {
    r := 1;
  } else {
    call r := fact(n - 1);
    r := r * n;
  }
}

procedure even(n: int) returns (b: bool)
  requires n >= 0;
  ensures b <==> n mod 2 == 0;
{
  if (n == 0) {
    b := true;
  } else {
    call b := odd(n - 1);
  }
}

procedure odd(n: int) returns (b: bool)
  requires n >= 0;
  ensures b <==> n mod 2 == 1;
{
  if (n == 0) {
    b := false;
  } else {
    call b := even(n - 1);
  }
}

procedure odd_bad(n: int) returns (b: bool)
  requires n >= 0;
  ensures b <==> n mod 2 == 1;
{
  if (n == 0) {
    b := false;
  } else {
    call b := odd_bad(n - 2); //! possible-assertion precondition
  }
}
function ack(m: int, n: int) : int;
axiom (forall n: int :: {ack(0, n)} ack(0, n) == n + 1);
axiom (forall m: int :: {ack(m, 0)} m > 0 ==> ack(m, 0) == ack(m - 1, 1));
axiom (forall m, n: int :: {ack(m, n)} m > 0 && n > 0 ==> ack(m, n) == ack(m - 1, ack(m, n - 1)));
procedure A(m: int, n: int) returns (r: int) requires m >= 0 && n >= 0; ensures r >= 0; ensures r == ack(m, n);
{
  var t: int;
  if (m == 0) { r := n + 1; }
  else if (n == 0) { call r := A(m - 1, 1); }
  else { call t := A(m, n - 1); call r := A(m - 1, t); }
}
procedure mc91(n: int) returns (r: int) ensures n <= 100 ==> r == 91; ensures n > 100 ==> r == n - 10;
{ if (n > 100) { r := n - 10; } else { call r := mc91(n + 11); call r := mc91(r); } }
procedure mc91bad(n: int) returns (r: int) ensures n <= 100 ==> r == 91; ensures n > 100 ==> r == n - 10;
{ if (n > 100) { r := n - 9; } else { call r := mc91bad(n + 11); call r := mc91bad(r); } } //! possible-assertion postcondition
procedure gcd(a: int, b: int) returns (g: int) requires a > 0 && b > 0; ensures g > 0;
{ var x, y: int; x, y := a, b; while (x != y) invariant x > 0 && y > 0; { if (x > y) { x := x - y; } else { y := y - x; } } g := x; }

procedure two_results() returns (x: int, y: int)
  ensures x < y;
{
  x := 1;
  y := 2;
}

procedure swap_call()
{
  var p, q: int;
  call p, q := two_results();
  assert p < q;
  call q, p := two_results();
  assert p < q; //! possible-assertion assertion
}
