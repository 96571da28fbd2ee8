//! Is the libz3 that the build found the one that the `z3` crate was made for?
//! With another version the program links, and then misreads what Z3 answers.

use z3::ast::BV;
use z3::{SatResult, Solver};

#[test]
fn is_at_least_5_3() {
    let full = z3::full_version();
    // "Z3 5.3.3.0", possibly with a commit after it.
    let mut parts = full.trim_start_matches("Z3 ").split('.').map_while(|part| part.parse::<u32>().ok());
    let found = (parts.next(), parts.next());
    assert!(found >= (Some(5), Some(3)), "libz3 is {full}; run tools/fetch-libz3");
}

#[test]
fn finds_the_wrap_around_of_a_bit_vector() {
    let x = BV::new_const("x", 32);
    let solver = Solver::new();
    solver.assert((&x + 1u32).bvult(&x));
    assert_eq!(solver.check(), SatResult::Sat);
    let model = solver.get_model().expect("satisfiable, so there is a model");
    let value = model.eval(&x, true).and_then(|value| value.as_u64());
    assert_eq!(value, Some(u64::from(u32::MAX)));

    solver.assert(x.bvult(u32::MAX));
    assert_eq!(solver.check(), SatResult::Unsat);
}
