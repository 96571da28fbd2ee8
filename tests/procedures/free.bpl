// What is free is assumed and never checked.
var g: int; 
procedure v6(); modifies g; ensures g > 0;

procedure v7()
  modifies g;
{
  call v6();
  assert g > 0;
  assert g > 1; //! possible-assertion assertion
}

procedure v8()
  modifies g;
  free ensures g == 5;
{
  g := 4;
}

procedure v9()
  modifies g;
{
  call v8();
  assert g == 5;
}

procedure v10(x: int)
  free requires x > 0;
{
  assert x > 0;
}

procedure v11()
{
  call v10(-1);
  assert true;
}

procedure v12(x: int)
  requires x > 0;
{
}

procedure v13()
{
  free call v12(-1);
  assert true;
}

procedure v14(n: int)
{
  var i: int;
  i := 0;
  while (i < n)
    free invariant i < 10;
    invariant i >= 0;
  {
    i := i + 1;
    assert i <= 10;
  }
  assert i < 10;
  assert i < 9; //! possible-assertion assertion
}
