//! Kernels on which some stage would run for minutes, or take the memory of the machine.

use std::fmt::Write;

/// `mad.lo` chained: polynomials of a degree that no solver multiplies out.
pub fn chained_products(count: usize) -> String {
    let chain = "mad.lo.u32 %x, %x, %x, %y;\n".repeat(count);
    kernel(&format!(
        "mov.u32 %x, %tid.x;\nmov.u32 %y, %q;\n{chain}mul.wide.u32 %rd2, %x, 4;\nadd.u64 %rd3, %rd1, %rd2;\n\
         st.global.u32 [%rd3], %r1;\nret;\n"
    ))
}

/// `brx.idx` with so many targets.
pub fn jump_table(targets: usize) -> String {
    let labels: Vec<String> = (0..targets).map(|target| format!("L{target}")).collect();
    let mut text = format!("rem.u32 %r2, %r1, {targets};\nT: .branchtargets {};\nbrx.idx %r2, T;\n", labels.join(", "));
    for (target, label) in labels.iter().enumerate() {
        let _ = write!(text, "{label}:\nmov.u32 %x, {};\nbra E;\n", target * 7919 % targets);
    }
    text.push_str("E:\nmul.wide.u32 %rd2, %x, 4;\nadd.u64 %rd3, %rd1, %rd2;\nst.global.u32 [%rd3], %r1;\nret;\n");
    kernel(&text)
}

/// Stores to places that a hash of the thread gives.
pub fn scattered_stores(count: u64) -> String {
    let mut text = String::new();
    for number in 0..count {
        let factor = ((number * 2_654_435_761 + 12_345) % (1 << 31)) | 1;
        let _ = write!(
            text,
            "mul.lo.u32 %r2, %r1, {factor};\nxor.b32 %r2, %r2, {};\nshr.u32 %r2, %r2, {};\nmul.wide.u32 %rd2, %r2, 4;\n\
             add.u64 %rd3, %rd1, %rd2;\nst.global.u32 [%rd3], %r1;\n",
            factor * 31 % (1 << 31),
            8 + number % 12
        );
    }
    kernel(&(text + "ret;\n"))
}

/// Loops in loops, with a barrier in the innermost.
pub fn nested_loops(depth: usize) -> String {
    let mut text = String::new();
    for level in 0..depth {
        let _ = write!(text, "add.u32 %n{level}, %q, {level};\nmov.u32 %i{level}, 0;\nH{level}:\n");
    }
    let _ = write!(
        text,
        "mad.lo.u32 %r2, %i{}, 64, %r1;\nand.b32 %r2, %r2, 1023;\nmul.wide.u32 %rd2, %r2, 4;\nmov.u64 %rd4, s;\n\
         add.u64 %rd3, %rd2, %rd4;\nld.shared.u32 %x, [%rd3];\nadd.u32 %x, %x, 1;\nst.shared.u32 [%rd3], %x;\n\
         bar.sync 0;\n",
        depth - 1
    );
    for level in (0..depth).rev() {
        let _ = write!(
            text,
            "add.u32 %i{level}, %i{level}, 1;\nsetp.lt.u32 %p, %i{level}, %n{level};\n@%p bra H{level};\n"
        );
    }
    kernel(&(text + "ret;\n"))
}

/// Each warp has a loop of its own, with so many accesses and a barrier after each tenth.
pub fn specialised_warps(warps: usize, accesses: usize) -> String {
    let mut text = "mov.u64 %rd4, s;\nmov.u32 %y, 0;\nshr.u32 %w, %r1, 5;\n".to_string();
    for warp in 0..warps {
        let next = warp + 1;
        let _ = write!(
            text,
            "W{warp}:\nsetp.ne.u32 %p, %w, {warp};\n@%p bra W{next};\nmov.u32 %i0, 0;\nH{warp}:\nbar.sync 0;\n"
        );
        for access in 0..accesses {
            let _ = write!(
                text,
                "mad.lo.u32 %r2, %i0, {}, %r1;\nand.b32 %r2, %r2, 1023;\nmul.wide.u32 %rd2, %r2, 4;\n\
                 add.u64 %rd3, %rd2, %rd4;\nld.shared.u32 %x, [%rd3+{}];\nadd.u32 %y, %y, %x;\n\
                 st.shared.u32 [%rd3+{}], %y;\n",
                32 * (1 + access % 5),
                4096 * (access % 3),
                4096 * ((access + 1) % 3)
            );
            if access % 10 == 9 {
                text.push_str("bar.sync 0;\n");
            }
        }
        let _ = write!(text, "add.u32 %i0, %i0, 1;\nsetp.lt.u32 %p, %i0, %q;\n@%p bra H{warp};\nbra.uni E;\n");
    }
    let _ = write!(text, "W{warps}:\nE:\nret;\n");
    kernel(&text)
}

/// What the tests know an answer for, whatever runs beside it.
pub fn simple() -> String {
    kernel("mul.wide.u32 %rd2, %r1, 4;\nadd.u64 %rd3, %rd1, %rd2;\nst.global.u32 [%rd3], %r1;\nret;\n")
        .replace("entry k(", "entry simple(")
}

/// `%rd1` is an array, `%q` a parameter, `%r1` the thread, `s` shared memory.
fn kernel(body: &str) -> String {
    format!(
        ".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry k(.param .u64 p, .param .u32 q)\n{{\n\
         .reg .b64 %rd<8>;\n.reg .b32 %r<8>, %i<16>, %n<16>, %x, %y, %w, %q;\n.reg .pred %p;\n\
         .shared .align 4 .b8 s[16384];\nld.param.u64 %rd1, [p];\ncvta.to.global.u64 %rd1, %rd1;\n\
         ld.param.u32 %q, [q];\nmov.u32 %r1, %tid.x;\n{body}}}\n"
    )
}
