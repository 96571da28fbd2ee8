// What a call is known to satisfy, and where; clauses of contracts and invariants have no say in it.
procedure positive(x: int) returns (r: int);
  requires x > 0;

procedure claims(x: int);
  requires {:verified_under true} {:subsumption 0} x > 0;

procedure {:inline 1} copied(x: int)
  requires {:verified_under true} x > 0;
{
}

procedure wholly(n: int)
{
  var r: int;
  call {:verified_under true} r := positive(n);
  assert n > 0;
}

procedure partly(n: int, u: bool)
{
  var r: int;
  call {:verified_under u} r := positive(n); //! possible-assertion precondition
  assert n > 0;
  assert u; //! possible-assertion assertion
}

procedure where_it_matters(n: int, u: bool)
{
  var r: int;
  assume u || n == 4;
  call {:verified_under u} r := positive(n);
  assert n > 0;
}

procedure the_first_counts(n: int)
{
  var r: int;
  call {:verified_under false} {:verified_under true} r := positive(n); //! possible-assertion precondition
}

procedure nothing_follows(n: int)
{
  var r: int;
  call {:verified_under true} {:subsumption 0} r := positive(n);
  assert n > 0; //! possible-assertion assertion
}

procedure nothing_follows_an_assertion(n: int)
{
  assert {:verified_under true} {:subsumption 0} n > 0;
  assert n > 0; //! assertion assertion
}

procedure clauses(n: int)
{
  call claims(n); //! possible-assertion precondition
  assert n > 0;
}

procedure copies(n: int)
{
  call {:verified_under true} copied(n); //! assertion precondition
}

procedure rounds(n: int) returns (r: int)
  ensures {:verified_under true} r > 0;
{
  while (*)
    invariant {:verified_under true} n > 0;
  {
  }
  assert n > 0;
} //! possible-assertion postcondition
