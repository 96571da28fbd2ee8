#!/usr/bin/env python3
"""Runs single instructions on a GPU and writes what they give, as tables that tests/exec.rs reads.

    python3 instructions.py OUTPUT [CASES]       all of operations.txt and of the tables in ../exec, CASES (512) cases each
    python3 instructions.py --ptx                the kernels, to see what ptxas says of them
    python3 instructions.py --choose TABLE...    a few cases of each group, the first ones, which have the corners

Operands are corners (0, 1, -1, smallest, largest, NaNs, infinities, subnormal numbers, shifts of the width and more) and random
bits, the same ones each time. Groups that the driver's compiler refuses are told on stderr.
"""
import multiprocessing
import pathlib
import random
import struct
import sys

from driver import Driver, DriverError

HERE = pathlib.Path(__file__).resolve().parent
NAMES = ["%d", "%a", "%b", "%c", "%e"]
KERNELS_OF_A_MODULE = 24
MASK = (1 << 64) - 1

INTEGERS = [0, 1, -1, 2, -2, 3, 7, 8, 15, 16, 17, 31, 32, 33, 63, 64, 65, 127, 128, 255, 256, 0x101, 0x1F20]
SINGLES = [0x3F800000, 0xBF800000, 0x7F800000, 0xFF800000, 0x7FC00000, 0xFFC00000, 0x7F800001, 0x7FFFFFFF, 1, 0x80000001,
           0x007FFFFF, 0x00800000, 0x80800000, 0x7F7FFFFF, 0xFF7FFFFF, 0x3F000000, 0x3FC00000, 0x40200000, 0x42FE0000,
           0x43000000, 0x437F8000, 0x4F000000, 0x4EFFFFFF, 0xCF000000, 0xCF000001, 0x4F800000, 0x5F000000, 0xDF000000,
           0x5F800000, 0x477FE000, 0x477FF000, 0x33800000, 0x3F7FFFFF, 0x80000000]
DOUBLES = [0x3FF0000000000000, 0xBFF0000000000000, 0x7FF0000000000000, 0xFFF0000000000000, 0x7FF8000000000000,
           0x7FF0000000000001, 0xFFFFFFFFFFFFFFFF, 0x7FFFFFFFFFFFFFFF, 1, 0x000FFFFFFFFFFFFF, 0x0010000000000000,
           0x7FEFFFFFFFFFFFFF, 0x3FE0000000000000, 0x3FF8000000000000, 0x4004000000000000, 0x41DFFFFFFFC00000,
           0x41E0000000000000, 0xC1E0000000000000, 0xC1E0000000200000, 0x43E0000000000000, 0xC3E0000000000000,
           0x43F0000000000000, 0x47EFFFFFE0000000, 0x47EFFFFFF0000000, 0x36A0000000000000, 0x3690000000000000,
           0x380FFFFFC0000000, 0x8000000000000000, 0x40EFFC0000000000, 0x3E60000000000000]
HALVES = [0x3C00, 0xBC00, 0x7C00, 0xFC00, 0x7E00, 0x7C01, 0xFE00, 0x7FFF, 1, 0x8001, 0x03FF, 0x0400, 0x7BFF, 0xFBFF, 0x3800,
          0x3E00, 0x4100, 0x57F0, 0x5800, 0x8000, 0x3F80, 0x7F80, 0xFF80, 0x7FC0, 0x7F81, 0x0080, 0x007F, 0x7F7F, 0x4780]


def corners(bits):
    edges = [1 << (bits - 1), (1 << (bits - 1)) - 1, (1 << (bits - 1)) + 1, (1 << bits) - 3]
    numbers = {16: HALVES, 32: SINGLES, 64: DOUBLES}[bits]
    return [value % (1 << bits) for value in INTEGERS[:4] + edges + numbers + INTEGERS[4:]]


def operand(draw, bits):
    """A corner, a small number, two corners side by side, or any bits."""
    kind = draw.randrange(10)
    if kind < 5:
        return draw.choice(corners(bits))
    if kind == 5:
        return draw.randrange(70)
    if kind == 6 and bits >= 32:
        return draw.choice(corners(bits // 2)) | draw.choice(corners(bits // 2)) << bits // 2
    if kind == 7:
        return draw.getrandbits(draw.randrange(1, bits + 1))
    return draw.getrandbits(bits)


def lanes(draw, types, count):
    """Operands for operations of a warp: what lanes have in common differs from warp to warp."""
    cases = []
    while len(cases) < count:
        kind = draw.randrange(5)
        few = [operand(draw, int(types[0][1:])) for _ in range([1, 2, 4, 40, 2][kind])]
        same = [draw.randrange(33), draw.choice([0x1F, 0, 0x181F, 0x1C1F, 0x1E00, 0x101F, 0x0F, 0x1807])]
        for lane in range(32):
            first = draw.choice(few)
            if kind == 4 and lane > 0:
                first = cases[-1][0]  # One value for all, but for the last lane now and then.
                if lane == 31 and draw.randrange(2):
                    first ^= 1
            rest = same if kind % 2 == 0 else [draw.choice([draw.randrange(33), 40, 255, 2**32 - 1]), same[1]]
            if kind == 3:
                rest[1] = draw.randrange(1 << 13)
            cases.append(tuple([first] + rest[: len(types) - 1]))
    return cases


def cases(types, text, count):
    draw = random.Random(text)
    if text.startswith(("bfe", "bfi")) and len(types) > 3:
        return [(*case[:-2], draw.choice([case[-2], 0, draw.randrange(80)]) & 255, draw.choice([case[-1], draw.randrange(70)]) & 255)
                for case in (tuple(operand(draw, int(name[1:])) for name in types[1:]) for _ in range(count))]
    widths = [int(name[1:]) for name in types[1:]]
    if any(word in text for word in ("shfl", "vote", "match", "redux", "bar.", "elect", "activemask")):
        return lanes(draw, types[1:], 64 if "bar." in text else count)
    if not widths:
        return [()] * min(count, 96)
    found = []
    if len(widths) == 1:
        found = [(value,) for value in corners(widths[0])]
        draw.shuffle(found)
    seen = set(found)
    for _ in range(20 * count):
        if len(found) >= count:
            break
        case = tuple(operand(draw, bits) for bits in widths)
        if case not in seen:
            seen.add(case)
            found.append(case)
    return found[:count]


def kernel(name, types, text):
    """The same kernel as in tests/exec.rs: its thread n has case n."""
    lines = [f".visible .entry {name}(.param .u64 {name}_in, .param .u64 {name}_out)\n{{"]
    lines += [f".reg .{ty} {register};" for register, ty in zip(NAMES, types)]
    lines += [f".reg .b32 %t, %i; .reg .b64 %u, %p, %q, %x<5>; ld.param.u64 %p, [{name}_in]; ld.param.u64 %q, [{name}_out];",
              "mov.u32 %i, %tid.x; mad.wide.u32 %p, %i, 32, %p; mad.wide.u32 %q, %i, 8, %q;"]
    for position, ty in enumerate(types[1:]):
        lines.append(f"ld.global.u64 %x{position}, [%p+{8 * position}];")
        target = NAMES[position + 1]
        lines.append(f"mov.b64 {target}, %x{position};" if ty == "b64" else f"cvt.u{ty[1:]}.u64 {target}, %x{position};")
    back = {"pred": "selp.u64 %u, 1, 0, %d", "b64": "mov.b64 %u, %d"}.get(types[0], f"cvt.u64.u{types[0][1:]} %u, %d")
    return "\n".join([*lines, text, back + ";", "st.global.u64 [%q], %u;", "ret;", "}"])


def module(groups):
    kernels = [kernel(f"k{number}", types, text) for number, (types, text) in enumerate(groups)]
    return ".version 8.5\n.target sm_90\n.address_size 64\n" + "\n".join(kernels) + "\n"


def groups():
    """All operations, each once."""
    found = {}
    for file in [HERE / "operations.txt", *sorted((HERE.parent / "exec").glob("*.txt"))]:
        for line in file.read_text().splitlines():
            if line.startswith("op "):
                types, text = line[3:].split(" : ", 1)
                found[text, types] = (types.split(), text)
    return list(found.values())


def run(work):
    """The table of some groups. A group that does not compile is tried alone."""
    chosen, count = work
    driver = run.driver = getattr(run, "driver", None) or Driver()
    try:
        loaded = driver.load(module(chosen))
    except DriverError as error:
        if len(chosen) == 1:
            return f"# refused: {' '.join(chosen[0][0])} : {chosen[0][1]}: {str(error)[:300]!r}\n"
        return "".join(run(([group], count)) for group in chosen)
    output = ""
    for number, (types, text) in enumerate(chosen):
        all_cases = cases(types, text, count)
        data = b"".join(struct.pack("<4Q", *(list(case) + [0] * 4)[:4]) for case in all_cases)
        source, target = driver.allocate(len(data)), driver.allocate(8 * len(all_cases))
        driver.write(source, data)
        driver.write(target, b"\0" * 8 * len(all_cases))
        function = driver.function(loaded, f"k{number}")
        parameters = [struct.pack("<Q", source), struct.pack("<Q", target)]
        driver.launch(function, (1, 1, 1), (len(all_cases), 1, 1), 0, parameters)
        results = struct.unpack(f"<{len(all_cases)}Q", driver.read(target, 8 * len(all_cases)))
        driver.free(source)
        driver.free(target)
        output += f"op {' '.join(types)} : {text}\n"
        for case, result in zip(all_cases, results):
            output += " ".join(f"{value:x}" for value in case) + f" = {result:x}\n"
    driver.unload(loaded)
    return output


def is_open(types, text, case, result):
    """Why the ISA leaves a result open, or why it is not compared; None otherwise."""
    if ".approx" in text or ".full" in text:
        return "an approximation"
    if text.startswith(("div.", "rem.")) and text.split(".")[1][0] in "su" and case[1] % (1 << int(types[2][1:])) == 0:
        return "a division by zero"
    if text.startswith(("bfe", "bfi")) and len(case) > 2 and "64" in types[0] and max(case[-2:]) % (1 << 32) > 255:
        return "a bit field beyond 255"
    if text.startswith("fns") and (case[1] > 31 or case[2] == 1 << 31):
        return "a base of no lane"
    if "%warpid" in text or "%nwarpid" in text or "0xaaaaaaaa" in text and "shfl.sync.idx" in text:
        return "what else runs there; a lane that takes no part"
    if "atom.shared.add.noftz" in text and "x2" in text:
        return "a bug: the upper half is not added"
    # A NaN has any sign and any payload, but where hardware has one of f32 and of the formats below.
    wide = types[0] == "b64" and "f64" in text and (result >> 52 & 2047) == 2047 and result << 12 & MASK
    narrow = text.startswith("cvt") and types[0] != "b64" and any(is_nan(value, int(ty[1:])) for value, ty in zip(case, types[1:]))
    return "a NaN" if wide or narrow and ("f64" in text or "bf16" in text or "tf32" in text) else None


def is_nan(value, bits):
    exponents = {16: [0x7C00, 0x7F80], 32: [0x7F800000], 64: [0x7FF0000000000000]}[bits]
    return any(value & exponent == exponent and value & (1 << bits - 1) - 1 > exponent for exponent in exponents)


def choose(files, most=8):
    """The first cases of each group: they have the corners."""
    for file in files:
        for block in pathlib.Path(file).read_text().split("op ")[1:]:
            head, *rest = [line for line in block.splitlines() if line and not line.startswith("#")]
            types, text = head.split(" : ", 1)
            types = types.split()
            wide = any(word in head for word in ("shfl", "vote", "match", "redux", "bar.", "elect", "activemask", "mov.u32 %d, %"))
            kept = []
            for line in rest:
                operands, result = line.split("=")
                case = [int(word, 16) for word in operands.split()]
                if not is_open(types, text, case, int(result, 16)):
                    kept.append(line)
            # Lanes of a warp go together.
            if kept and (not wide or len(kept) == len(rest)):
                print(f"op {head}", *kept[: 96 if wide else most], sep="\n")


def main(arguments):
    if arguments[0] == "--ptx":
        return print(module(groups()))
    if arguments[0] == "--choose":
        return choose(arguments[1:])
    everything = groups()
    count = int(arguments[1]) if len(arguments) > 1 else 512
    parts = [everything[at : at + KERNELS_OF_A_MODULE] for at in range(0, len(everything), KERNELS_OF_A_MODULE)]
    with multiprocessing.get_context("spawn").Pool(8) as pool, open(arguments[0], "w") as output:
        for table in pool.imap(run, [(part, count) for part in parts]):
            print("\n".join(line for line in table.splitlines() if line.startswith("#")), end="", file=sys.stderr)
            output.write(table)


if __name__ == "__main__":
    main(sys.argv[1:])
