"""The hook of Numba, with the real compiler and without a GPU."""

from __future__ import annotations

import inspect
from pathlib import Path
from typing import Any

import gpuvcc
import pytest
from numba import cuda, float32, int32

SIGNATURE = (float32[::1], int32)
COMPILE = {"cc": (8, 0)}


def scale(data: Any, n: Any) -> None:
    i = cuda.grid(1)
    if i < n:
        data[i] = 2 * data[i]


def shift(data: Any, n: Any) -> None:
    i = cuda.grid(1)
    if i < n:
        data[i + 1] = data[i]  # RACE


def line_of(function: Any, text: str) -> int:
    lines, first = inspect.getsourcelines(function)
    return first + next(index for index, line in enumerate(lines) if text in line)


def test_verified() -> None:
    (report,) = gpuvcc.numba.verify(scale, SIGNATURE, compile=COMPILE, block=64, grid=4, params={"param_6": 1})
    assert report.name.endswith("scale")


def test_race_has_the_line_of_python() -> None:
    (report,) = gpuvcc.numba.verify(shift, SIGNATURE, compile=COMPILE, block=64)
    assert report.verdict == "race"
    assert Path(report.findings[0].file).name == Path(__file__).name
    assert report.findings[0].line == line_of(shift, "RACE")


def test_hook_raises_where_a_kernel_is_compiled() -> None:
    original = cuda.compile_ptx
    with gpuvcc.numba.check(block=64) as checked:
        with pytest.raises(gpuvcc.NotVerified, match=r"shift: race"):
            cuda.compile_ptx(shift, SIGNATURE, cc=(8, 0))
        # Once more: Numba numbers its compilations, so this is another kernel.
        with pytest.raises(gpuvcc.NotVerified):
            cuda.compile_ptx(shift, SIGNATURE, cc=(8, 0))
        text, _ = cuda.compile_ptx(shift, SIGNATURE, cc=(8, 0), device=True)
        assert ".entry" not in text
    assert [report.verdict for report in checked] == ["race", "race"]
    assert cuda.compile_ptx is original


def test_hook_collects() -> None:
    with gpuvcc.numba.check(block=64, raises=False) as checked:
        for function in (scale, shift):
            text, _ = cuda.compile_ptx(function, SIGNATURE, cc=(9, 0))
            assert ".loc" in text
    assert [report.verdict == "race" for report in checked] == [False, True]
    with pytest.raises(gpuvcc.NotVerified):
        checked.raise_not_verified()
