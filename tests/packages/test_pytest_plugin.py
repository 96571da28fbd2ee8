"""The pytest plugin, in runs of pytest of its own."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest


@pytest.fixture
def folder(pytester: pytest.Pytester, kernels: Path) -> Path:
    for name in ("saxpy", "saxpy_broken"):
        for ending in ("ptx", "cu"):
            shutil.copy(kernels / f"{name}.{ending}", pytester.path)
    project = '[[kernel]]\nname = "saxpy"\n[[kernel.launch]]\nblock = [256]\ngrid = [64]\n'
    (pytester.path / "gpuvcc.toml").write_text(project)
    return pytester.path


def test_a_test_for_each_kernel(pytester: pytest.Pytester, folder: Path) -> None:
    result = pytester.runpytest_subprocess("--gpuvcc", "-v")
    result.assert_outcomes(passed=1, failed=1)
    result.stdout.fnmatch_lines(
        [
            "saxpy.ptx::saxpy PASSED*",
            "saxpy_broken.ptx::saxpy FAILED*",
            "*saxpy_broken.cu:8: race: write-read on `y`",
            "*= gpuvcc =*",
            "*saxpy.ptx: saxpy: verified, block 256, grid 64",
            "*saxpy_broken.ptx: saxpy: race, block 256, grid 64",
        ]
    )
    assert result.ret == pytest.ExitCode.TESTS_FAILED


def test_nothing_without_the_option(pytester: pytest.Pytester, folder: Path) -> None:
    assert pytester.runpytest_subprocess().ret == pytest.ExitCode.NO_TESTS_COLLECTED


def test_options_in_the_configuration(pytester: pytest.Pytester, folder: Path) -> None:
    (folder / "launches.jsonl").write_text(
        "".join(f'{{"kernel": "saxpy", "block": [{block}], "grid": [2]}}\n' for block in (32, 64))
    )
    pytester.makeini("[pytest]\ngpuvcc = true\ngpuvcc_launches = launches.jsonl\ngpuvcc_allow = race\n")
    result = pytester.runpytest_subprocess("-v")
    # Two kernels in two launches: those without a race are not allowed now.
    result.assert_outcomes(passed=2, failed=2)


def test_a_file_that_is_no_ptx(pytester: pytest.Pytester) -> None:
    (pytester.path / "wrong.ptx").write_text(".version 8.0\n.target sm_70\n.address_size 64\n).frobnicate")
    result = pytester.runpytest_subprocess("--gpuvcc")
    result.assert_outcomes(errors=1)
    result.stdout.fnmatch_lines(["*wrong.ptx:4:1: *"])


def test_known_findings_are_expected_failures(pytester: pytest.Pytester, folder: Path) -> None:
    known = (
        '[[kernel]]\nname = "saxpy"\n[[kernel.known]]\nkind = "race"\nat = ["saxpy_broken.cu:8"]\nreason = "issue 12"\n'
    )
    (folder / "gpuvcc.toml").write_text(known)
    result = pytester.runpytest_subprocess("--gpuvcc", "saxpy_broken.ptx", "-rx")
    result.assert_outcomes(xfailed=1)
    result.stdout.fnmatch_lines(["*issue 12*"])


def test_fixture(pytester: pytest.Pytester, folder: Path) -> None:
    pytester.makepyfile(
        """
        def test_good(gpuvcc_check):
            assert gpuvcc_check("saxpy.ptx", block=256, grid=64).verified

        def test_bad(gpuvcc_check):
            gpuvcc_check("saxpy_broken.ptx", block=256, grid=64)

        def test_allowed(gpuvcc_check):
            gpuvcc_check("saxpy_broken.ptx", block=256, grid=64, allow=["race"])
        """
    )
    result = pytester.runpytest_subprocess()
    result.assert_outcomes(passed=2, failed=1)
    result.stdout.fnmatch_lines(["*NotVerified: saxpy_broken.ptx: saxpy: race, block 256, grid 64"])
    result.stdout.fnmatch_lines(["saxpy.ptx: saxpy: verified, block 256, grid 64"])
