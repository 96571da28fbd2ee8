// Messages of the author.
// boogie: it tells the message without a line
procedure v3(x: int)
  requires {:msg "pos"} x > 0;
{
}

procedure v4()
{
  call v3(0); //! possible-assertion precondition
  call v3(1);
}
