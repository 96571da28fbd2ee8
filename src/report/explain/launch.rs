//! Codes of the command line, of launches, and of the program itself.

use super::Code;

/// The table.
pub(crate) const CODES: &[Code] = &[
    Code {
        code: "baseline",
        title: "the file of --baseline or --write-baseline cannot be used",
        text: "A baseline holds the findings of an earlier run, which --write-baseline wrote. What it knows fails no run. \
               The file cannot be read or written, or it is none.",
        example: "gpuvcc build/*.ptx --write-baseline gpuvcc-baseline.json\n\
                  gpuvcc build/*.ptx --baseline gpuvcc-baseline.json",
    },
    Code {
        code: "input-unreadable",
        title: "an input file cannot be read",
        text: "The file does not exist, is a directory without .ptx, .ivl or .bpl files, may not be read, is larger than 1 GiB, or is \
               neither UTF-8 text nor a program, object, archive, cubin or fat binary. A thin archive holds no files, it \
               names them. PTX comes from `nvcc -ptx` or `clang -S`, \
               or lies in what nvcc makes by default.",
        example: "nvcc -ptx -lineinfo -arch=sm_90 scan.cu -o scan.ptx && gpuvcc scan.ptx",
    },
    Code {
        code: "output-unwritable",
        title: "the file of --output cannot be written",
        text: "The output goes to a new file in the same folder first, which then takes the place of the old one: whoever reads \
               it meanwhile sees the old one as a whole. So the folder has to be there, and files in it may be made. \
               The kernels are not looked at where that is not so at the beginning.",
        example: "gpuvcc build/*.ptx --format html -o reports/today.html    mkdir reports",
    },
    Code {
        code: "container-damaged",
        title: "a program, object, archive or fat binary that contradicts itself",
        text: "A header, a size or compressed data in it is wrong, at the byte of the file that the message names: \
               the file is cut off or damaged, or of a version that this program does not know. An image \
               may have at most 256 MiB after decompression.",
        example: "head -c 2000 a.out | gpuvcc -",
    },
    Code {
        code: "no-ptx",
        title: "a binary without PTX",
        text: "It holds machine code only, or no code for a GPU at all. Machine code is not verified. nvcc keeps PTX \
               beside it with `code=compute_XX`, and so does `-arch=sm_XX` by itself; a cubin has PTX only with \
               debug information (`-G`, `-lineinfo`). `--list` prints what is there.",
        example: "nvcc -gencode arch=compute_90,code=sm_90 scan.cu    machine code only\n\
                  nvcc -gencode arch=compute_90,code=compute_90 scan.cu    PTX",
    },
    Code {
        code: "no-such-target",
        title: "an input without PTX for --target, or a binary without the module named",
        text: "Targets are compared exactly, sm_90a is not sm_90; sm_90 and compute_90 are the same. The target of PTX text \
               is its `.target`. Of a folder, files of other targets are left out. Without --target any PTX is \
               taken, and of the units of a binary that for the highest. A module is named as messages and `--list` show it, FILE:MODULE.",
        example: "gpuvcc --list a.out\ngpuvcc a.out --target sm_80",
    },
    Code {
        code: "launch-file",
        title: "the file that Triton wrote beside the PTX tells no launch that exists",
        text: "A .json file with `num_warps` beside a .ptx file of the same name gives the launch: blocks of \
               32 * num_warps threads, `shared` bytes of dynamic shared memory. The message names the field that is wrong.",
        example: "{\"num_warps\": 64}",
    },
    Code {
        code: "launches",
        title: "a line of --launches that is no launch, or launches of no kernel of the input",
        text: "Each line is a JSON object with `kernel`, `block` and `grid`, and perhaps `cluster`, `dynamic_shared`, \
               `params`, `words`, `sizes` and `aliases`. A GPU must be able to start the launch. The kernel is named as in the PTX, or \
               as in its source.",
        example: "{\"kernel\": \"saxpy\", \"block\": [256], \"grid\": [64], \"params\": {\"0\": 16384}}",
    },
    Code {
        code: "project",
        title: "a mistake in gpuvcc.toml",
        text: "The file has tables `[[kernel]]` with a `name` (of one kernel, or a pattern), `requires`, a list of \
               expressions as in annotations, and tables `[[kernel.launch]]` with the fields of a line of --launches.",
        example: "[[kernel]]\nname = \"scan*\"\nrequires = [\"[n] > 0\"]\n[[kernel.launch]]\nblock = [256]\ngrid = [64]",
    },
    Code {
        code: "record",
        title: "gpuvcc record cannot run the program",
        text: "A library is loaded into the program, which sees the launches. That needs Linux with glibc, on x86-64 or AArch64, \
               and a C compiler when gpuvcc is built.",
        example: "gpuvcc record -o launches.jsonl -- ./program arguments",
    },
    Code {
        code: "unknown-kind",
        title: "a file that is nothing that can be verified",
        text: "It is no binary, does not start with `.version` as PTX does, has no `__global__` as CUDA source has, and does \
               not start as a program in Boogie or the IVL does. Files that end in .ptx, .cu, .cuh, .ivl or .bpl are \
               taken for what they are called.",
        example: "gpuvcc notes.txt",
    },
    Code {
        code: "compiler",
        title: "CUDA source without a compiler for it, or one that the compiler refuses",
        text: "A .cu file is compiled by nvcc or, without it, by clang, whichever is on the PATH; the message has the \
               command to type where there is one. Further options for nvcc stand in the variable NVCC_APPEND_FLAGS. \
               The launches in the source whose sizes are constants are those that are verified.",
        example: "nvcc -ptx -lineinfo kernel.cu -o kernel.ptx\ngpuvcc kernel.cu kernel.ptx    with the launches of the source",
    },
    Code {
        code: "no-kernel",
        title: "an input has no kernel",
        text: "PTX needs at least one `.entry` with a body, an IVL program a procedure with the attribute \
               {:kernel}. Device functions (`.func`) are verified where a kernel calls them.",
        example: "procedure {:kernel} add_neighbour() { ... }",
    },
    Code {
        code: "no-such-entry",
        title: "--entry names no kernel, or several",
        text: "A kernel is named as PTX spells it, or as its source does: `reduce`, `lib::reduce<float>` or with the \
               types of its parameters, where only one kernel is called so. The message gives near names, some of those \
               that exist, or the kernels that the name may mean.",
        example: "gpuvcc saxpy.ptx --entry saxpi",
    },
    Code {
        code: "contradictory-requirements",
        title: "requirements that no execution meets",
        text: "Everything is true of no execution at all, so such a proof would say nothing: preconditions, `requires` \
               and `assume` annotations, fixed parameters and launch sizes contradict each other.",
        example: "//@ requires %p1;   and later   //@ requires !%p1;",
    },
    Code {
        code: "unsatisfied-assumption",
        title: "an `assume` that no thread satisfies",
        text: "Threads come to this assumption, and none of them goes on. Whatever stands behind it is proved of \
               nobody; the rest of the kernel is checked as usual. An unsatisfiable `requires` is the error \
               `contradictory-requirements`.",
        example: "@%p1 bra L;\n//@ assume %p1;   no thread with %p1 comes here",
    },
    Code {
        code: "undefined-register",
        title: "an annotation about a register that need not be assigned",
        text: "An annotation speaks about the place where it stands. Where a register is not assigned on every way \
               there, it has an arbitrary value, another one at each read: a `requires` or `assume` about it says \
               nothing, and an assertion about it fails. Move the annotation behind the assignment, or name the \
               parameter.",
        example: "//@ requires %r1 < 16;   %r1 is loaded in the next line\nld.param.u32 %r1, [n];",
    },
    Code {
        code: "launch-size",
        title: "launch sizes that contradict each other or the kernel",
        text: "A kernel with `.reqntid` runs only with that block size, `.maxntid` bounds its product, a launch \
               has fewer threads than --max-threads, and no GPU launches blocks of more than 1024 threads. Sizes \
               that break this describe no launch, so nothing could be proved of them.",
        example: ".reqntid 256, 1, 1\ngpuvcc k.ptx --block 128",
    },
    Code {
        code: "parameter",
        title: "--param names no scalar parameter, names one twice, or its value does not fit",
        text: "Parameters are named as in the PTX, or by their position from 0. The value must fit the width of \
               the parameter, and pointers have no value to fix.",
        example: "gpuvcc saxpy.ptx --param saxpy_param_0=1024\ngpuvcc saxpy.ptx --param 0=1024",
    },
    Code {
        code: "internal-error",
        title: "a bug of gpuvcc",
        text: "A stage found its own rules broken. Nothing was proved about the kernel, the exit code is 4, and \
               other kernels of the run are not affected. Please report it with the input.",
        example: "",
    },
];
