//! Large programs of the IVL: 2,000 blocks with five assertions each, always the same ones.

use std::fmt::Write;

const BLOCKS: usize = 2_000;
const ASSERTIONS: usize = 5;
/// Loops in one procedure of [`Shape::Maps`], each of four blocks.
const LOOPS: usize = 25;
const SEED: u64 = 20_261_122;

/// What a program is made of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    /// One procedure that branches over and over, with integers.
    Branching,
    /// The same, where five assertions fail.
    Failing,
    /// Loops that fill maps, with invariants that have quantifiers.
    Maps,
    /// One procedure that branches, with bit-vectors.
    Bits,
}

impl Shape {
    /// In the order of the table.
    pub const ALL: [Shape; 4] = [Shape::Branching, Shape::Failing, Shape::Maps, Shape::Bits];
}

/// Numbers that look random (Knuth's linear congruence).
struct Dice(u64);

impl Dice {
    fn below(&mut self, bound: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % bound
    }
}

/// The program of a shape.
pub fn large_program(shape: Shape) -> String {
    let mut dice = Dice(SEED);
    let mut out = String::new();
    // Writing to a string cannot fail.
    let _ = match shape {
        Shape::Branching => integers(&mut out, &mut dice, false),
        Shape::Failing => integers(&mut out, &mut dice, true),
        Shape::Maps => (0..BLOCKS / 4 / LOOPS).try_for_each(|number| maps(&mut out, &mut dice, number)),
        Shape::Bits => bits(&mut out, &mut dice),
    };
    out
}

/// Where control goes from a block: two arms meet in every fourth.
fn leave(out: &mut String, block: usize) -> std::fmt::Result {
    match block % 4 {
        _ if block + 1 == BLOCKS => writeln!(out, "  return;"),
        0 => writeln!(out, "  goto L{}, L{};", block + 1, block + 2),
        1 => writeln!(out, "  goto L{};", block + 2),
        _ => writeln!(out, "  goto L{};", block + 1),
    }
}

fn integers(out: &mut String, dice: &mut Dice, fails: bool) -> std::fmt::Result {
    writeln!(out, "procedure large(n: int, m: [int]int)\n  requires n >= 0;\n{{")?;
    writeln!(out, "  var x, y, z: int;\n  x := 0; y := n; z := 0;\n  goto L0;")?;
    for block in 0..BLOCKS {
        let round = block as u64 / 4 + 1;
        writeln!(out, "L{block}:")?;
        match block % 4 {
            0 => writeln!(out, "  x := x + 1;")?,
            1 => writeln!(out, "  assume y > 5; z := z + 2;")?,
            2 => writeln!(out, "  assume y <= 5; z := z + 3;")?,
            _ => {}
        }
        for place in 0..ASSERTIONS {
            let less = dice.below(4);
            match block % 4 {
                _ if fails && place == 0 && block % 400 == 203 => writeln!(out, "  assert m[{block}] != {block};")?,
                0 => writeln!(out, "  assert x + y >= n + {round} - {less};")?,
                3 => writeln!(out, "  assert z >= {} - {less};", 2 * round)?,
                _ => writeln!(out, "  assert z >= {less} - 3;")?,
            }
        }
        leave(out, block)?;
    }
    writeln!(out, "}}")
}

fn bits(out: &mut String, dice: &mut Dice) -> std::fmt::Result {
    for (name, builtin) in [("and", "bvand"), ("or", "bvor"), ("add", "bvadd")] {
        writeln!(out, "function {{:bvbuiltin \"{builtin}\"}} {name}(x: bv32, y: bv32) returns (bv32);")?;
    }
    writeln!(out, "function {{:bvbuiltin \"bvule\"}} at_most(x: bv32, y: bv32) returns (bool);")?;
    writeln!(out, "procedure large(n: bv32)\n{{\n  var flags, low: bv32;\n  flags := n; low := 0bv32;\n  goto L0;")?;
    for block in 0..BLOCKS {
        let bit = 1u64 << (block / 4 % 32);
        writeln!(out, "L{block}:")?;
        match block % 4 {
            0 => writeln!(out, "  flags := or(flags, {bit}bv32);")?,
            1 => writeln!(out, "  assume n[1:0] == 0bv1; low := and(add(low, {}bv32), 255bv32);", dice.below(256))?,
            2 => writeln!(out, "  assume n[1:0] == 1bv1; low := and(add(low, n), 127bv32);")?,
            _ => {}
        }
        for _ in 0..ASSERTIONS {
            let known = 1u64 << dice.below((block as u64 / 4 + 1).min(32));
            match dice.below(2) {
                0 => writeln!(out, "  assert at_most(low, {}bv32);", 255 + dice.below(100))?,
                _ => writeln!(out, "  assert and(flags, {known}bv32) == {known}bv32;")?,
            }
        }
        leave(out, block)?;
    }
    writeln!(out, "}}")
}

/// A procedure that fills a map anew in each loop.
fn maps(out: &mut String, dice: &mut Dice, number: usize) -> std::fmt::Result {
    writeln!(out, "procedure fill{number}(n: int) returns (m: [int]int)\n  requires n > 0;\n{{\n  var i: int;")?;
    for round in 0..LOOPS {
        let value = dice.below(1000);
        writeln!(out, "L{round}:\n  i := 0;")?;
        (0..ASSERTIONS).try_for_each(|_| writeln!(out, "  assert i + n > 0 - {};", dice.below(10)))?;
        writeln!(out, "  goto head{round};\nhead{round}:")?;
        writeln!(out, "  assert 0 <= i && i <= n;")?;
        writeln!(out, "  assert (forall j: int :: {{m[j]}} 0 <= j && j < i ==> m[j] == {value});")?;
        (2..ASSERTIONS).try_for_each(|_| writeln!(out, "  assert i >= 0 - {};", dice.below(10)))?;
        writeln!(out, "  goto body{round}, done{round};\nbody{round}:\n  assume i < n;\n  m[i] := {value};")?;
        let earlier = |k| format!("  assert i >= {k} ==> m[i - {k}] == {value};");
        (0..ASSERTIONS).try_for_each(|_| writeln!(out, "{}", earlier(dice.below(4))))?;
        writeln!(out, "  i := i + 1;\n  goto head{round};\ndone{round}:\n  assume i >= n;")?;
        let at = |k| format!("  assert n > {k} ==> m[{k}] == {value};");
        (0..ASSERTIONS).try_for_each(|_| writeln!(out, "{}", at(dice.below(100))))?;
        let next = round + 1;
        if next < LOOPS { writeln!(out, "  goto L{next};")? } else { writeln!(out, "  return;")? }
    }
    writeln!(out, "}}")
}
