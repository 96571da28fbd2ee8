// Variables that collect what was assumed: true at the start, whatever havoc does later.
procedure true_at_start(n: int)
{
  var {:assumption} a: bool;
  assert a;
  a := a && n > 0;
  assert a ==> n > 0;
  assert n > 0 ==> a;
  assert a; //! assertion assertion
}

procedure some_way(n: int, b: bool)
{
  var {:assumption} a, unused: bool;
  if (b) {
    a := a && n > 0;
  }
  assert b || a;
  assert a == (b ==> n > 0);
  assert unused;
}

procedure in_loop(n: int)
{
  var {:assumption} a: bool;
  while (*)
    invariant a ==> n > 0 || a; 
  {
    a := a && n > 0;
  }
  assert a ==> n > 0; //! possible-assertion assertion
}

procedure arbitrary(n: int)
{
  var {:assumption} a: bool;
  havoc a;
  assert a; //! assertion assertion
}

// These are ordinary ones.
procedure switched_off({:assumption} p: bool) returns ({:assumption} r: bool)
{
  var {:assumption false} a: bool;
  var {:assumption 1} b: bool;
  var {:assumption false} {:assumption} c: bool;
  var {:assumption} {:assumption false} d: bool;
  assert d;
  assert a; //! assertion assertion
  assert b; //! assertion assertion
  assert c; //! assertion assertion
  assert p; //! assertion assertion
  assert r; //! assertion assertion
}

// So are those of a copy.
procedure {:inline 1} copied(n: int) returns (r: bool)
{
  var {:assumption} a: bool;
  a := a && n > 0;
  r := a;
}

procedure calls(n: int)
{
  var r: bool;
  call r := copied(n);
  assert r ==> n > 0;
  assert n > 0 ==> r; //! assertion assertion
}

procedure known(n: int)
{
  var {:assumption} a: bool;
  a := a && n > 3;
  assert {:verified_under !a} {:subsumption 0} n > 3;
  assert {:verified_under a} n > 7; //! assertion assertion
}
