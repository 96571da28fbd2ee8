// Lines that count only under a condition.
#if FILE_0
procedure first(x: int)
{
#if WINDOWS
  this is no statement
#elsif !LINUX
  assert x > 0; //! assertion assertion
#else
  assert x > 1;
#endif
}
#else
nor this a declaration
#endif
#if !FILE_0 && x
procedure second()
{
  assert true;
}
#endif
#if WINDOWS
#if !LINUX
procedure third() { assert false; }
#endif
#endif
