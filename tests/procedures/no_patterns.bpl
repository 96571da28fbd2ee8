// Terms that do not become triggers.
function f(x: int): int;
function g(x: int): int;
function {:never_pattern true} h(x: int): int;

procedure chosen()
{
  assume (forall x: int :: { g(x) } f(x) == g(x) + 1);
  assert f(3) == g(3) + 1;
}

procedure free_choice()
{
  assume (forall x: int :: f(x) == x + 1);
  assert f(3) == 4;
}

procedure excluded()
{
  assume (forall x: int :: {:nopats f(x)} f(x) > 0 && g(x) > 0);
  assert f(3) > 0; //! possible-assertion assertion
}

procedure another_is_there()
{
  assume (forall x: int :: {:nopats f(x)} f(x) > 0 && g(x) > 0);
  assert g(3) > 0 && f(3) > 0;
}

// Where nothing else is left to choose, solvers take it after all.
procedure nothing_else()
{
  assume (forall x: int :: {:nopats f(x)} f(x) > 0);
  assert f(3) > 0;
}

procedure never()
{
  assume (forall x: int :: h(x) > 0 && g(x) > 0);
  assert h(3) > 0; //! possible-assertion assertion
}

procedure trigger_wins()
{
  assume (forall x: int :: {:nopats f(x)} { f(x) } {:weight 3} {:qid "f"} f(x) > 0 && g(x) > 0);
  assume (forall x: int :: { h(x) } h(x) == x);
  assert f(3) > 0;
  assert h(3) == 3;
}

// Triggers of arithmetic are taken as they stand.
procedure sums(y: int, m: [int]int)
{
  assume (forall x: int :: { m[x + 1] } f(x) > 0);
  assume m[y + 1] == 9;
  assert f(y) > 0;
  assert f(y + 5) > 0; //! possible-assertion assertion
}

procedure remainders(y: int)
{
  assume (forall x: int :: { x mod 3 } f(x) > 0);
  assert f(y) > 0; //! possible-assertion assertion
}
