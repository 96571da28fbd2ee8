// exit: 2
// stderr: error[ivl-modifies]: this modifies the global variable `a`
// stderr: the procedure needs `modifies a;`
// stderr: gpuvcc --infer-modifies
// Without the option a missing clause is an error.
var a: int;
procedure leaf() { a := 1; }
