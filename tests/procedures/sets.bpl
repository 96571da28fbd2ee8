// Sets as maps to Boolean.
procedure q2(s: [int]bool, t: [int]bool, u: [int]bool)
  requires (forall x: int :: u[x] <==> (s[x] && t[x]));
{
  assert (forall x: int :: u[x] ==> s[x]);
  assert (forall x: int :: s[x] ==> u[x]); //! possible-assertion assertion
}

procedure q16(s: [int]bool) returns (t: [int]bool)
  requires (forall i: int :: s[i] ==> i > 0);
  ensures (forall i: int :: t[i] ==> i > 0);
  ensures (forall i: int :: s[i] ==> t[i]);
  ensures (forall i: int :: t[i] ==> s[i]);
{
  t := s;
  t[5] := true;
} //! possible-assertion postcondition
