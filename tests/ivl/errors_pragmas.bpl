//@ error 6:1 ivl-syntax: `#foo` at the beginning of a line is no known pragma
//@ error 8:1 ivl-syntax: `#note` at the beginning of a line is no known pragma
// Words at the beginning of a line that are pragmas for Boogie.
procedure p()
{
#foo
  assert true;
#note := 3;
}
