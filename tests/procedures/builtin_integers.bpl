// Operators of SMT-LIB by their names.
function {:builtin "div"} quotient(int, int) returns (int);
function {:builtin "mod"} modulus(x: int, y: int) returns (int);
function {:builtin "rem"} remainder(x: int, y: int) returns (int);
function {:builtin "abs"} absolute(x: int) returns (int);
function {:builtin "+"} plus(x: int, y: int) returns (int);
function {:builtin "-"} negated(x: int) returns (int);
function {:builtin "-"} minus(x: int, y: int) returns (int);
function {:builtin "*"} times(x: int, y: int) returns (int);
function {:builtin "<"} less(x: int, y: int) returns (bool);
function {:builtin "and"} both(x: bool, y: bool) returns (bool);
function {:builtin "=>"} implies(x: bool, y: bool) returns (bool);
function {:builtin "xor"} either(x: bool, y: bool) returns (bool);
function {:builtin "not"} opposite(x: bool) returns (bool);
function {:builtin "ite"} choose(c: bool, x: int, y: int) returns (int);
function {:builtin "="} same(x: int, y: int) returns (bool);
function {:builtin "distinct"} differ(x: int, y: int) returns (bool);

procedure values()
{
  assert quotient(7, 2) == 3 && quotient(-7, 2) == -4 && quotient(7, -2) == -3 && quotient(-7, -2) == 4;
  assert modulus(7, 2) == 1 && modulus(-7, 2) == 1 && modulus(7, -2) == 1 && modulus(-7, -2) == 1;
  assert remainder(7, 2) == 1 && remainder(-7, 2) == 1 && remainder(7, -2) == -1 && remainder(-7, -2) == -1;
  assert absolute(-3) == 3;
}

procedure laws(x: int, y: int, a: bool, b: bool)
{
  assert quotient(x, y) == x div y && modulus(x, y) == x mod y;
  assert y > 0 ==> remainder(x, y) < y;
  assert remainder(x, 0) == modulus(x, 0);
  assert absolute(x) >= 0;
  assert plus(x, minus(y, x)) == y && times(2, x) == x + x && negated(x) == -x;
  assert less(x, y) == (x < y) && same(x, y) != differ(x, y);
  assert both(a, b) == (a && b) && implies(a, b) == (a ==> b) && either(a, b) == (a != b) && opposite(a) == !a;
  assert choose(a, x, y) == (if a then x else y);
}

procedure signs(x: int, y: int)
{
  assert y > 0 ==> remainder(x, y) >= 0;
  assert modulus(x, 3) >= 0;
  assert remainder(x, -3) >= 0; //! assertion assertion
  assert quotient(x, 0) == 0; //! assertion assertion
}

procedure rounds(n: int) returns (s: int)
{
  var i: int;
  i := n;
  while (i > 0)
    invariant i == 0 || i == n;
  {
    i := modulus(i, i);
  }
  assert i == 0; //! possible-assertion assertion
}

procedure quantified()
{
  assert (forall x: int :: modulus(x, 2) == 0 || modulus(x, 2) == 1);
}
