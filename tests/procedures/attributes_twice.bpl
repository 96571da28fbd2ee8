// Attributes that are given twice, or in another form: which one counts.
procedure {:inline 1} {:inline 3} last_depth(n: int) returns (r: int)
{
  if (n > 0) {
    call r := last_depth(n - 1);
  }
}

procedure uses_last_depth()
{
  var r: int;
  call r := last_depth(2);
  assert r == 5; //! assertion assertion
}

procedure {:inline 3} {:inline 1} last_depth_one(n: int) returns (r: int)
{
  if (n > 0) {
    call r := last_depth_one(n - 1);
  }
}

procedure uses_last_depth_one()
{
  var r: int;
  call r := last_depth_one(2);
  assert r == 5;
}

// Without a number the contract stands for the call, as for Boogie.
procedure {:inline} no_depth() returns (r: int)
{
  r := 1;
}

procedure uses_no_depth()
{
  var r: int;
  call r := no_depth();
  assert r == 1; //! possible-assertion assertion
}

// Depth 0 leaves nothing of the call.
procedure {:inline 0} depth_zero()
{
  assert false;
}

procedure uses_depth_zero()
{
  call depth_zero();
  assert false;
}

// The implementation may say how deep, where the procedure does not.
procedure by_implementation() returns (r: int);

implementation {:inline 1} by_implementation() returns (r: int)
{
  r := 1;
}

procedure uses_by_implementation()
{
  var r: int;
  call r := by_implementation();
  assert r == 1;
}

procedure {:verify false} {:verify true} verified_after_all()
{
  assert false; //! assertion assertion
}

procedure {:verify true} {:verify false} not_verified()
{
  assert false;
}

procedure {:verify false} own_say();

implementation {:verify true} own_say()
{
  assert false; //! assertion assertion
}

implementation own_say()
{
  assert false;
}

procedure subsumed(n: int)
{
  assert {:subsumption 2} {:subsumption 0} n > 0; //! assertion assertion
  assert n > 0;
}

procedure not_subsumed(n: int)
{
  assert {:subsumption 0} {:subsumption 2} n > 0; //! assertion assertion
  assert n > 0; //! assertion assertion
}

procedure not_a_number(n: int)
{
  assert {:subsumption "0"} {:subsumption 0 + 0} n > 0; //! assertion assertion
  assert n > 0;
}

procedure {:selective_checking} {:selective_checking false} selective(n: int)
{
  assert n > 0;
  assume {:start_checking_here false} true;
  assert n > 1;
  assume {:start_checking_here} true;
  assert n > 2; //! assertion assertion
}

procedure {:selective_checking 1} not_selective(n: int)
{
  assert n > 0; //! assertion assertion
  assume {:start_checking_here} true;
  assert n > 1; //! assertion assertion
}

procedure needs(n: int);
  requires n > 6;

// Assertions and calls mark, too, and are checked themselves.
procedure {:selective_checking} marked_assertion(n: int)
{
  assert n > 0;
  assert {:start_checking_here} n > 1; //! assertion assertion
  assert n > 2; //! assertion assertion
}

procedure {:selective_checking} marked_call(n: int)
{
  assert n > 5;
  call {:start_checking_here} needs(n); //! possible-assertion precondition
  assert n > 7; //! possible-assertion assertion
}

procedure {:selective_checking} marked_invariant(n: int)
{
  assert n > 0;
  while (*)
    invariant {:start_checking_here} n > 1; //! assertion invariant-entry
  {
  }
  assert n > 2; //! possible-assertion assertion
}

procedure {:selective_checking} said_by_procedure(n: int);

implementation said_by_procedure(n: int)
{
  assert n > 0;
}

axiom {:ignore} {:ignore false} false;
axiom {:ignore false} {:ignore} n_is_positive > 0;
const n_is_positive: int;

procedure ignored_axioms()
{
  assert n_is_positive > 0;
  assert false; //! assertion assertion
}
