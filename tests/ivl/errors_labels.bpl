//@ error 11:15 ivl-label: did you mean `Start`?
//@ error 15:21 ivl-label: `break` is in no statement that is labelled `Start`
//@ error 16:21 ivl-label: `break` is in no statement that is labelled `Nowhere`
//@ error 17:3 ivl-label: `break` outside of a loop
// Jumps, one a line. What is wrong with names and types is not told beside these.

procedure jumps(x: int)
{
Start:
  assert nope;
  goto Start, Strat;
  while (*) {
    Inner: goto Start;
  }
  while (*) { break Start; }
  while (*) { break Nowhere; }
  break;
}
