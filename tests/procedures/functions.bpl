// Functions: uninterpreted, defined, recursive; axioms with triggers.
function plus_one(x: int) : int { x + 1 }
function {:inline} twice(x: int) : int { x + x }
function f(int) returns (int);
axiom (forall x: int :: {f(x)} f(x) > x);
function fib(n: int) : int { if n <= 1 then n else fib(n - 1) + fib(n - 2) }
function g(int) returns (int);
axiom (forall x: int :: {g(x)} x < 10 ==> g(x) == g(x + 1));
function is_even(int) returns (bool);
axiom is_even(0);
axiom (forall n: int :: {is_even(n)} is_even(n) ==> is_even(n + 2));

procedure uses(a: int)
{
  assert plus_one(a) > a;
  assert twice(a) == 2 * a;
  assert f(a) >= a + 1;
  assert f(f(a)) > a + 1;
  assert f(a) == a + 1; //! possible-assertion assertion
}

procedure recursive()
{
  assert fib(1) == 1;
  assert fib(5) == 5;
}

procedure steps()
{
  assert is_even(0);
  assert is_even(2);
  assert is_even(1); //! possible-assertion assertion
}

procedure quantified(p: [int]bool, n: int)
  requires (forall i: int :: 0 <= i && i < n ==> p[i]);
  requires n > 3;
{
  assert p[2];
  assert (exists i: int :: p[i]);
  assert (forall i: int :: i == 1 ==> p[i]);
  assert p[n]; //! possible-assertion assertion
}
