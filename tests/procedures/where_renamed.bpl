// What a procedure declares of its parameters and results holds of the names that a separate implementation has.
var level: int where level > 10;

procedure counts(x: int where x > 0) returns (r: int where r > 3);
  modifies level;

implementation counts(y: int) returns (s: int)
{
  assert y > 0;
  assert s > 3;
  s := 0;
  havoc s;
  assert s > 3;
  while (*) {
    s := s + 1;
    level := level - 1;
  }
  assert s > 3;
  assert level > 10;
}

procedure between(x: int where x > 0) returns (r: int where r > x);

implementation between(a: int) returns (b: int)
{
  while (*) {
    b := b - 1;
  }
  assert b > a;
  havoc b;
  assert b > a;
  assert b > a + 1; //! possible-assertion assertion
}

// Each speaks of another, and the names are exchanged.
procedure chain(x: int where x > y, y: int where y > 0) returns (a: int where a > b, b: int where b > x);

implementation chain(y: int, x: int) returns (b: int, a: int)
{
  assert y > x && x > 0 && b > a && a > y;
  havoc b;
  assert b > a;
  b, a := 0, 0;
  havoc a;
  assert a > y;
  assert b > a; //! assertion assertion
}

// An assignment may break a clause until the next arbitrary value.
implementation chain(p: int, q: int) returns (r: int, s: int)
{
  r := s;
  assert s > p;
  assert r > s; //! assertion assertion
}

// A copy of a body keeps no clause of its parameters and results, for Boogie neither.
procedure {:inline 1} copied(x: int where x > 0) returns (r: int where r > 3);

implementation {:inline 2} copied(y: int) returns (s: int)
{
  var own: int where own > 5;
  assert own > 5;
  assert s > 3; //! assertion assertion
}

procedure calls()
  modifies level;
{
  var v: int;
  call v := copied(1);
  call v := counts(1);
  assert v > 3;
}
