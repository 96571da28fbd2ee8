"""The wheel: what is in it, and that it runs in an empty virtual environment without a compiler."""

from __future__ import annotations

import re
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest
import tomllib


@pytest.fixture(scope="module")
def contents(wheel: Path) -> zipfile.ZipFile:
    return zipfile.ZipFile(wheel)


@pytest.fixture(scope="module")
def environment(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A virtual environment with the wheel and nothing else, installed without a network."""
    place = tmp_path_factory.mktemp("empty") / "environment"
    subprocess.run([sys.executable, "-m", "venv", place], check=True)
    install = [place / "bin/python", "-m", "pip", "install", "--quiet", "--no-index", wheel]
    subprocess.run(install, check=True, env={"PATH": "/nowhere"})
    return place


def run(environment: Path, *command: str | Path, exit: int = 0) -> str:
    """What a program of the environment prints where there is no compiler, no cargo and no other Python."""
    done = subprocess.run(
        [environment / "bin" / command[0], *command[1:]],
        cwd=environment,
        env={"PATH": "/nowhere", "GPUVCC_PROGRAM": ""},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == exit, done.stdout + done.stderr
    return done.stdout


def test_tag_names_a_glibc(wheel: Path) -> None:
    assert re.search(r"-py3-none-manylinux_2_\d+_(x86_64|aarch64)\.whl$", wheel.name)


def test_no_path_of_this_machine(contents: zipfile.ZipFile, root: Path) -> None:
    program = next(name for name in contents.namelist() if name.endswith(".scripts/gpuvcc"))
    code = contents.read(program)
    assert str(root).encode() not in code
    assert str(Path.home()).encode() + b"/" not in code


def test_licences_of_all_that_is_inside(contents: zipfile.ZipFile, root: Path) -> None:
    texts = {Path(name).name: contents.read(name).decode() for name in contents.namelist() if "/licenses/" in name}
    assert set(texts) == {"LICENSE-APACHE", "LICENSE-MIT", "Z3.txt", "crates.txt", "layout-rs.txt"}
    assert "Microsoft" in texts["Z3.txt"]
    # The crates that the program names itself are among them, and each with a text.
    dependencies = tomllib.loads((root / "Cargo.toml").read_text())["dependencies"]
    for crate in dependencies:
        assert re.search(rf"^(.*, )?{crate} \d[^:]*$", texts["crates.txt"], re.MULTILINE), crate


def test_verifies_without_a_compiler(environment: Path, kernels: Path) -> None:
    text = run(environment, "gpuvcc", kernels / "saxpy.ptx", "--block", "256", "--grid", "64")
    assert "saxpy: verified, block 256, grid 64" in text


def test_finds_a_race(environment: Path, kernels: Path) -> None:
    text = run(
        environment, "gpuvcc", kernels / "reduce_sequential_broken.ptx", "--block", "128", "--grid", "64", exit=1
    )
    assert "read-write race on `s`" in text


def test_module_is_the_program(environment: Path) -> None:
    assert run(environment, "python", "-m", "gpuvcc", "--version") == run(environment, "gpuvcc", "--version")


def test_python_uses_the_program_of_the_wheel(environment: Path, kernels: Path) -> None:
    code = f"import gpuvcc; print(gpuvcc.program()); print(gpuvcc.verify({str(kernels / 'saxpy.ptx')!r}, block=256)['saxpy'])"
    program, line, *_ = run(environment, "python", "-c", code).splitlines()
    assert Path(program).is_relative_to(environment)
    assert "saxpy: verified" in line


def test_libz3_is_that_of_the_wheel(environment: Path) -> None:
    """The folder moves, as a relocated environment does: the library moves with the program."""
    moved = environment.with_name("moved")
    subprocess.run(["cp", "-r", environment, moved], check=True)
    program = next(moved.glob("lib/python*/site-packages/gpuvcc.scripts/gpuvcc"))
    libraries = subprocess.run(["ldd", program], check=True, capture_output=True, text=True).stdout
    found = re.search(r"libz3\S* => (\S+)", libraries)
    assert found is not None, libraries
    assert Path(found[1]).resolve().is_relative_to(moved)


def test_completions_and_manual(environment: Path) -> None:
    assert "_gpuvcc" in run(environment, "gpuvcc", "completions", "bash")
    assert run(environment, "gpuvcc", "man").count(".TH gpuvcc 1") == 1
