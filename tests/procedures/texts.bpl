// Texts of attributes: a backslash escapes nothing but a quote.
procedure texts(x: int)
{
  assert {:text "ends in \\"} true;
  assert {:text "C:\dir\"} true;
  assert {:text "say \"no\" to \n"} x > 0; //! assertion assertion
  assert {:text "both \\\" of them"} x > 1; //! assertion assertion
}
