#!/usr/bin/env python3
"""Runs launches on a GPU and writes the hash of each array afterwards, as tests/hardware reads them.

    python3 launches.py FOLDER OUTPUT        FOLDER/launches.txt, with what the emulator gave in FOLDER/expected; files of kernels
                                             are those of the lines, in FOLDER or from the root of the repository

Differences are told on stdout: array, byte, both values. Launches after one that fails run in a new process.
"""
import multiprocessing
import pathlib
import struct
import sys

from driver import Driver, DriverError

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
MASK = (1 << 64) - 1


def mix(state, value):
    """The finaliser of SplitMix64, as in tests/attack/emulator/random.rs."""
    mixed = (state ^ value * 0x9E3779B97F4A7C15 & MASK) + 0x9E3779B97F4A7C15 & MASK
    mixed = (mixed ^ mixed >> 30) * 0xBF58476D1CE4E5B9 & MASK
    mixed = (mixed ^ mixed >> 27) * 0x94D049BB133111EB & MASK
    return mixed ^ mixed >> 31


def contents(start, number, size):
    kind, *words = start.split(":")
    seed = int(words[-1]) + number & MASK if words else 0
    if kind == "zero":
        return bytes(size)
    if kind == "unit":
        return struct.pack(f"<{size // 4}f", *((mix(seed, at) >> 40) / (1 << 24) for at in range(size // 4)))
    bound = int(words[0]) if kind == "small" else 1 << 32
    return struct.pack(f"<{size // 4}I", *((mix(seed, at) & 0xFFFFFFFF) % bound for at in range(size // 4)))


def fnv(data):
    value = 0xCBF29CE484222325
    for byte in data:
        value = (value ^ byte) * 0x100000001B3 & MASK
    return value


def differences(expected, found):
    at = [at for at in range(0, len(found), 4) if expected[at : at + 4] != found[at : at + 4]]
    shown = [f"+{one}: {expected[one:one + 4][::-1].hex()}, on the GPU {found[one:one + 4][::-1].hex()}" for one in at[:4]]
    return f"{len(at)} words differ: " + "; ".join(shown)


def run(work):
    """The line with its hashes, and what differs."""
    folder, number, line = work
    file, entry, block, grid, shared, size, start, *rest = line.removesuffix(" =").split(" ")
    block, grid = ([int(one) for one in sizes.split(",")] for sizes in (block, grid))
    size, lists = int(size), rest[0].split(",") if rest and rest[0] else []
    count = max([int(part[1:]) + 1 for one in lists for part in one.split("+") if part.startswith("@")], default=0)
    path = folder / pathlib.Path(file).name
    path = path if path.exists() else ROOT / file
    driver = run.driver = getattr(run, "driver", None) or Driver()
    loaded = run.loaded = getattr(run, "loaded", {})
    try:
        if path not in loaded:
            loaded[path] = driver.load(path.read_text())
        function = driver.function(loaded[path], entry)
        arrays = [driver.allocate(size) for _ in range(count)]
        for index, address in enumerate(arrays):
            driver.write(address, contents(start, index, size))
        parts = lambda part: struct.pack("<Q", arrays[int(part[1:])]) if part.startswith("@") else bytes.fromhex(part)
        driver.launch(function, grid, block, int(shared), [b"".join(map(parts, one.split("+"))) for one in lists])
        found = [driver.read(address, size) for address in arrays]
        for address in arrays:
            driver.free(address)
    except DriverError as error:
        return number, f"{line} # {str(error)[:200]!r}", "failed: " + str(error)[:300]
    expected = (folder / "expected" / str(number)).read_bytes()
    wrong = [
        f"array {index}, {differences(expected[index * size:][:size], data)}"
        for index, data in enumerate(found)
        if expected[index * size :][:size] != data
    ]
    return number, line + "".join(f" {fnv(data):x}" for data in found), "; ".join(wrong)


def main(folder, output):
    folder = pathlib.Path(folder)
    lines = (folder / "launches.txt").read_text().splitlines()
    work = [(folder, number, line) for number, line in enumerate(lines)]
    same, text = 0, []
    with multiprocessing.get_context("spawn").Pool(12, maxtasksperchild=60) as pool:
        results = pool.map_async(run, work, chunksize=6).get(timeout=400)
    for _, line, wrong in sorted(results):
        if wrong:
            print(line, wrong, sep="\n    ")
        else:
            same += 1
        text.append(line)
    pathlib.Path(output).write_text("\n".join(text) + "\n")
    print(f"{same} of {len(lines)} launches gave the same")


if __name__ == "__main__":
    main(*sys.argv[1:])
