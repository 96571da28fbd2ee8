"""Random protocols of named barriers against the exact engine: python3 tests/attack/protocols.py GPUVCC [SEED] [SECONDS]

Each warp has two groups of 16 lanes with programs of their own: bar.sync, bar.arrive, bar.warp.sync, reads and writes of two arrays,
exits. Half of them are mutated pipelines. The oracle explores every interleaving with vector clocks; a warp comes to a barrier when
all its groups that have not exited have. What is `verified` must be clean in all of them, and what is clean has no confirmed
defect. It shares nothing with the program.
"""

import json
import random
import subprocess
import sys
import tempfile
import time

BATCH = 150
LIMIT = 4_000  # states


def pipeline(rng, warps):
    """Programs of warps that synchronise rightly."""
    programs = [[] for _ in range(warps)]
    rounds, kind = rng.randint(1, 3), rng.randint(0, 3)
    for k in range(rounds):
        last = k == rounds - 1
        if kind == 0:  # one producer, one consumer
            programs[0] += [("s", 2, 2)] * (k > 0) + [("w", 0), ("a", 1, 2)]
            programs[1] += [("s", 1, 2), ("r", 0)] + [("a", 2, 2)] * (not last)
        elif kind == 1:  # all meet twice
            for w in range(warps):
                programs[w] += [("w", w), ("s", 0, warps), ("r", (w + 1) % warps), ("s", 1, warps)]
        elif kind == 2:  # a cycle
            for w in range(warps):
                if (w, k) != (0, 0):
                    programs[w].append(("s", w + 1, 2))
                programs[w].append(("w", 0))
                if not (w == warps - 1 and last):
                    programs[w].append(("a", (w + 1) % warps + 1, 2))
        else:  # many to one
            for w in range(warps - 1):
                programs[w] += [("w", w), ("a", 1, warps), ("s", 2, warps)]
            programs[-1] += [("s", 1, warps)] + [("r", w) for w in range(warps - 1)] + [("a", 2, warps)]
    return programs


def chaos(rng, warps):
    """Programs of warps that do anything."""

    def op():
        draw = rng.random()
        if draw < 0.4:
            return ("s", rng.randint(0, 2), rng.choice([1, 2, 2, warps]))
        if draw < 0.55:
            return ("a", rng.randint(0, 2), rng.choice([2, 2, warps]))
        if draw < 0.85:
            return (rng.choice("rw"), rng.randint(0, 1))
        return ("m",)

    return [[op() for _ in range(rng.randint(1, 5))] for _ in range(warps)]


def mutate(rng, programs):
    """Changes some operations, of one half of a warp or of both."""
    for _ in range(rng.randint(0, 2)):
        warp = rng.randrange(len(programs) // 2)
        groups = [2 * warp, 2 * warp + 1] if rng.random() < 0.6 else [2 * warp + rng.randint(0, 1)]
        if any(not programs[g] for g in groups):
            continue
        at = rng.randrange(min(len(programs[g]) for g in groups))
        kind, new = rng.randint(0, 7), rng.choice([("r", 0), ("w", 0), ("r", 1), ("w", 1), ("m",), ("r", 0, 1), ("w", 0, 1)])
        number, count = rng.randint(0, 3), rng.randint(1, len(programs) // 2)
        for program in (programs[g] for g in groups):
            op = program[at]
            if kind == 0:
                program.pop(at)
            elif kind == 1:
                program.insert(at, new)
            elif kind == 2 and at + 1 < len(program):
                program[at], program[at + 1] = program[at + 1], op
            elif kind == 3:
                del program[at:]
            elif kind == 4:
                program.insert(at, op)
            elif kind == 5 and op[0] in "sa":
                program[at] = (op[0], number, op[2])
            elif kind == 6 and op[0] in "sa":
                program[at] = ({"s": "a", "a": "s"}[op[0]], op[1], op[2])
            elif kind == 7 and op[0] in "sa":
                program[at] = (op[0], op[1], count)
    return programs


def oracle(programs):
    """What the worst interleaving shows: ok, race, deadlock, error; big if there are too many."""
    count = len(programs)
    clocks = tuple(tuple(int(i == j) for j in range(count)) for i in range(count))
    stack, seen = [((0,) * count, (None,) * count, (), clocks, ())], set()
    while stack:
        state = stack.pop()
        if state in seen:
            continue
        seen.add(state)
        if len(seen) > LIMIT:
            return "big"
        at, waits, barriers, clocks, accesses = state
        met = meet(programs, state)
        if isinstance(met, str):
            return met
        if met:
            stack.append(met)
            continue
        ready = [g for g in range(count) if waits[g] is None and at[g] < len(programs[g])]
        if not ready and any(wait is not None for wait in waits):
            return "deadlock"
        # An access commutes with all that clocks do not order it with.
        first = [g for g in ready if programs[g][at[g]][0] in "rw"][:1]
        for g in first or ready:
            op = programs[g][at[g]]
            new_waits, new_accesses = list(waits), accesses
            if op[0] in "rw":
                own = place_of(op, g)
                for place, other, time_of, kind in accesses:
                    if place == own and other != g and "w" in (kind, op[0]) and clocks[g][other] < time_of:
                        return "race"
                new_accesses = tuple(sorted({*accesses, (own, g, clocks[g][g], op[0])}))
            else:
                new_waits[g] = op
            new_at = tuple(a + (i == g) for i, a in enumerate(at))
            stack.append((new_at, tuple(new_waits), barriers, clocks, new_accesses))
    return "ok"


def place_of(op, g):
    """The half of an array that an access means: that of its group, or of the other one."""
    return 2 * op[1] + (g + len(op)) % 2


def join(clocks):
    return [max(times) for times in zip(*clocks)]


def meet(programs, state):
    """The state after the groups of a warp have met, if they can; a defect; or nothing."""
    at, waits, barriers, clocks, accesses = state
    for warp in range(len(programs) // 2):
        live = [g for g in (2 * warp, 2 * warp + 1) if at[g] < len(programs[g]) or waits[g] is not None]
        if not live or any(waits[g] is None or waits[g][0] == "waits" for g in live):
            continue
        kinds = {waits[g][0] for g in live}
        new_waits, new_clocks, open_barriers = list(waits), [list(clock) for clock in clocks], dict(barriers)
        if kinds == {"m"}:
            known = join([clocks[g] for g in live])
            for g in live:
                new_clocks[g], new_waits[g] = list(known), None
                new_clocks[g][g] += 1
        elif "m" in kinds:
            continue
        elif len({waits[g] for g in live}) > 1:
            return "error"
        else:
            kind, number, needed = waits[live[0]]
            of, arrived = open_barriers.pop(number, (needed, ()))
            if of != needed or any(other == warp for other, *_ in arrived):
                return "error"
            arrived += ((warp, kind == "s", tuple(live), tuple(clocks[g] for g in live)),)
            for g in live:
                new_clocks[g][g] += 1
                new_waits[g] = ("waits", number) if kind == "s" else None
            if len(arrived) < needed:
                open_barriers[number] = (needed, tuple(sorted(arrived)))
            else:
                known = join([clock for *_, told in arrived for clock in told])
                for g in [g for _, waiting, groups, _ in arrived if waiting for g in groups]:
                    new_clocks[g], new_waits[g] = join([new_clocks[g], known]), None
        new_barriers = tuple(sorted(open_barriers.items()))
        return at, tuple(new_waits), new_barriers, tuple(map(tuple, new_clocks)), accesses
    return None


def ptx(programs, name):
    """A kernel that runs the programs."""
    lines = [f".visible .entry {name}()", "{", ".reg .pred %p<2>;", ".reg .b32 %r<8>;", "mov.u32 %r1, %tid.x;"]
    lines += ["shr.u32 %r2, %r1, 4;", "and.b32 %r3, %r1, 15;", "shl.b32 %r3, %r3, 2;", "mov.u32 %r4, s;"]
    lines += ["add.s32 %r4, %r4, %r3;"]
    for g in range(1, len(programs)):
        lines += [f"setp.eq.u32 %p1, %r2, {g};", f"@%p1 bra G{g};"]
    for g, program in enumerate(programs):
        lines += [f"G{g}:"] * (g > 0)
        for op in program:
            if op[0] == "r":
                lines.append(f"ld.shared.u32 %r5, [%r4+{64 * place_of(op, g)}];")
            elif op[0] == "w":
                lines.append(f"st.shared.u32 [%r4+{64 * place_of(op, g)}], %r1;")
            elif op[0] == "m":
                lines.append("bar.warp.sync 0xffffffff;")
            else:
                lines.append(f"barrier.{'sync' if op[0] == 's' else 'arrive'} {op[1]}, {32 * op[2]};")
        lines.append("ret;")
    return "\n".join([*lines, "}", ""])


def main():
    program, seed, seconds = sys.argv[1], int((sys.argv[2:] or [1])[0]), float((sys.argv[3:] or [60])[0])
    rng, end, answers, contradictions = random.Random(seed), time.time() + seconds, {}, 0
    while time.time() < end:
        warps = rng.choice([2, 2, 3, 4])
        batch = []
        for _ in range(BATCH):
            of_warps = pipeline(rng, warps) if rng.random() < 0.5 else chaos(rng, warps)
            batch.append(mutate(rng, [list(ops) for ops in of_warps for _ in (0, 1)]))
        with tempfile.NamedTemporaryFile("w", suffix=".ptx") as file:
            file.write(".version 7.0\n.target sm_80\n.address_size 64\n.shared .align 16 .b8 s[1024];\n")
            file.write("".join(ptx(programs, f"k{i}") for i, programs in enumerate(batch)))
            file.flush()
            options = ["--engine", "exact", "--block", str(32 * warps), "--grid", "1", "--format", "json", "--jobs", "1"]
            ran = subprocess.run([program, file.name, *options], capture_output=True, text=True)
        verdicts = {kernel["entry"]: kernel["verdict"] for kernel in json.loads(ran.stdout)["kernels"]}
        for i, programs in enumerate(batch):
            verdict, truth = verdicts[f"k{i}"], oracle(programs)
            answers[verdict, truth] = answers.get((verdict, truth), 0) + 1
            is_wrong = verdict == "verified" and truth not in ("ok", "big")
            if is_wrong or truth == "ok" and verdict in ("race", "deadlock", "barrier-error", "divergence"):
                contradictions += 1
                print(f"CONTRADICTION: {verdict}, and the oracle says {truth}: {programs}")
    for (verdict, truth), number in sorted(answers.items()):
        print(f"{number:8} {verdict} (oracle: {truth})")
    return min(contradictions, 1)


if __name__ == "__main__":
    sys.exit(main())
