"""The hook of Triton, with the real compiler and without a GPU."""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import gpuvcc
import pytest
import triton
import triton.language as tl
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource

TARGETS = [pytest.param(GPUTarget("cuda", arch, 32), id=f"sm_{arch}") for arch in (80, 90)]


@triton.jit
def add(x, y, out, n, BLOCK: tl.constexpr):  # type: ignore[no-untyped-def]
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = at < n
    tl.store(out + at, tl.load(x + at, inside) + tl.load(y + at, inside), inside)


@triton.jit
def shift(x, n, BLOCK: tl.constexpr):  # type: ignore[no-untyped-def]
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = at < n
    tl.store(x + at + 1, tl.load(x + at, inside), inside)  # RACE


SIGNATURES = {
    add: {"x": "*fp32", "y": "*fp32", "out": "*fp32", "n": "i32", "BLOCK": "constexpr"},
    shift: {"x": "*fp32", "n": "i32", "BLOCK": "constexpr"},
}


def compiled(function: Any, target: GPUTarget) -> Any:
    source = ASTSource(fn=function, signature=SIGNATURES[function], constexprs={"BLOCK": 256})
    return triton.compile(source, target=target, options={"num_warps": 4})


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv("TRITON_CACHE_DIR", str(tmp_path / "cache"))
    yield
    assert triton.knobs.compilation.listener is None


@pytest.mark.parametrize("target", TARGETS)
def test_compilations_are_verified(target: GPUTarget) -> None:
    with gpuvcc.triton.check() as checked:
        compiled(add, target)
        # From the cache: the same kernel, one answer.
        compiled(add, target)
    (report,) = checked
    assert report.name == "add"
    assert report.launch.block == (128, 1, 1)
    assert report.verdict == "verified-when"
    assert report.conditions == ("gridDim.y == 1", "gridDim.z == 1")


@pytest.mark.parametrize("target", TARGETS)
def test_race_has_the_line_of_python(target: GPUTarget) -> None:
    with gpuvcc.triton.check() as checked:
        for _ in range(2):
            with pytest.raises(gpuvcc.NotVerified, match="shift: race"):
                compiled(shift, target)
    (report,) = checked
    lines, first = inspect.getsourcelines(shift.fn)
    line = first + next(index for index, text in enumerate(lines) if "RACE" in text)
    assert Path(report.findings[0].file).name == Path(__file__).name
    assert report.findings[0].line == line


@pytest.mark.parametrize("target", TARGETS)
def test_grid_of_a_compiled_kernel(target: GPUTarget) -> None:
    (report,) = gpuvcc.triton.verify_compiled(compiled(add, target), grid=(64,))
    assert report.verified
    assert report.launch == gpuvcc.Launch((128, 1, 1), (64, 1, 1))


def test_an_earlier_listener_goes_on() -> None:
    told = []

    def before(**compilation: Any) -> None:
        told.append(compilation["cache_hit"])

    triton.knobs.compilation.listener = before
    try:
        with gpuvcc.triton.check():
            compiled(add, GPUTarget("cuda", 80, 32))
        assert triton.knobs.compilation.listener is before
        assert told == [False]
    finally:
        triton.knobs.compilation.listener = None


def test_options_that_are_known() -> None:
    with pytest.raises(TypeError, match="`grid` is known"):
        gpuvcc.triton.check(grid=(1,))


class Driver:
    """Stands for the driver of a GPU that is not there: launches end in ``launched`` instead of on a device."""

    def __init__(self, target: GPUTarget) -> None:
        self.target = target
        self.launched: list[tuple[int, ...]] = []

    def get_current_target(self) -> GPUTarget:
        return self.target

    def get_current_device(self) -> int:
        return 0

    def get_current_stream(self, device: int) -> int:
        return 0


class Pointer:
    """An array: what Triton asks of one."""

    dtype = "float32"

    def data_ptr(self) -> int:
        return 1 << 20


@pytest.fixture
def driver(monkeypatch: pytest.MonkeyPatch) -> Iterator[Driver]:
    fake = Driver(GPUTarget("cuda", 80, 32))
    monkeypatch.setattr(triton.runtime.driver, "_active", fake)
    for function in (add, shift):
        function.device_caches.clear()

    def run(kernel: Any) -> Any:
        return lambda *arguments: fake.launched.append(arguments[:3])

    monkeypatch.setattr(triton.compiler.CompiledKernel, "run", property(run))
    monkeypatch.setattr(triton.compiler.CompiledKernel, "launch_metadata", lambda *_: None)
    yield fake
    for function in (add, shift):
        function.device_caches.clear()


def test_grid_of_a_launch(driver: Driver) -> None:
    x, y, out = Pointer(), Pointer(), Pointer()
    with gpuvcc.triton.check() as checked:
        add[(64,)](x, y, out, 1000, BLOCK=256)
        add[(32,)](x, y, out, 1000, BLOCK=256)
    (report,) = checked
    assert report.verified
    assert report.launch.grid == (64, 1, 1)
    assert driver.launched == [(64, 1, 1), (32, 1, 1)]


def test_every_grid(driver: Driver) -> None:
    x, y, out = Pointer(), Pointer(), Pointer()

    def grid(meta: dict[str, int]) -> tuple[int]:
        return (triton.cdiv(meta["n"], meta["BLOCK"]),)

    with gpuvcc.triton.check(every_grid=True) as checked:
        for n in (1000, 2000, 2000):
            add[grid](x, y, out, n, BLOCK=256)
    assert [report.launch.grid for report in checked] == [(4, 1, 1), (8, 1, 1)]


def test_a_race_is_told_before_the_launch(driver: Driver) -> None:
    with gpuvcc.triton.check():
        for _ in range(2):
            with pytest.raises(gpuvcc.NotVerified):
                shift[(4,)](Pointer(), 1000, BLOCK=256)
    assert driver.launched == []


def test_nothing_is_covered_behind_it(driver: Driver) -> None:
    before = triton.runtime.jit.JITFunction.run
    gpuvcc.triton.check().close()
    assert triton.runtime.jit.JITFunction.run is before
    shift[(4,)](Pointer(), 1000, BLOCK=256)
    assert driver.launched == [(4, 1, 1)]
