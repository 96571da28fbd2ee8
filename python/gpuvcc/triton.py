"""Verifies kernels of Triton when Triton compiles them; no GPU is needed for that.

    with gpuvcc.triton.check() as checked:
        add[(64,)](x, y, out, n, BLOCK=256)
    print(*checked, sep="\\n")

``check`` listens at ``triton.knobs.compilation.listener``, which Triton calls behind each compilation, also one whose
result lies in its cache. The block (``num_warps``) and the integers for which Triton specialised the kernel are read
from what Triton writes beside the PTX. Where a launch made Triton compile, the grid of that launch is known, and the
answer is about this grid only; kernels that are compiled without a launch are verified for all grids. Lines are those
of the Python file.
"""

from __future__ import annotations

import contextlib
import contextvars
import functools
import hashlib
from collections.abc import Callable, Collection, Iterator
from pathlib import Path
from typing import Any

from triton import knobs
from triton.runtime.jit import JITFunction

from .hooks import ALLOWED, Check, options
from .reports import Results
from .verification import GpuvccError, verify

Grid = tuple[int, ...]

#: The grid of the launch that is under way.
_grid: contextvars.ContextVar[Grid | None] = contextvars.ContextVar("gpuvcc_grid", default=None)


def check(
    *,
    allow: Collection[str] = ALLOWED,
    raises: bool = True,
    every_grid: bool = False,
    **verify_options: Any,
) -> Check:
    """Verifies what Triton compiles from now on, until the answer is closed.

    A kernel with a verdict that ``allow`` does not name raises `NotVerified` where it is compiled, hence before it is
    launched; with ``raises=False`` answers are only collected. With ``every_grid``, further launches of a compiled
    kernel are verified, too, once for each grid, before ``kernel[grid](...)`` returns but after they started.
    Other options are those of ``gpuvcc.verify``.
    """
    given = options(verify_options, "block", "grid", "launches")

    def check_files(files: dict[str, Any], grid: Grid | None) -> None:
        path = _ptx(files)
        # The PTX itself tells kernels apart: Triton may compile into a folder that is gone when the next one comes.
        key = (hashlib.sha256(path.read_bytes()).hexdigest(), grid)
        session.add(key, lambda: _verify(path, grid, given))

    def listener(*arguments: Any, **compiled: Any) -> None:
        if before is not None:
            before(*arguments, **compiled)
        if compiled["metadata"]["target"].backend == "cuda":
            check_files(compiled["metadata_group"], _grid.get())

    def launched(kernel: Any, grid: Grid | None) -> None:
        if every_grid and grid is not None and kernel is not None and hasattr(kernel, "metadata_group"):
            check_files(kernel.metadata_group, grid)

    before = knobs.compilation.listener
    uncover = _watch_launches(launched)

    def remove() -> None:
        uncover()
        knobs.compilation.listener = before

    session = Check(remove, allow=allow, raises=raises)
    knobs.compilation.listener = listener
    return session


def verify_compiled(kernel: Any, *, grid: Grid | None = None, **verify_options: Any) -> Results:
    """Verifies what ``triton.compile`` or ``kernel.warmup`` returned."""
    given = options(verify_options, "block", "launches")
    return _verify(_ptx(kernel.metadata_group), grid, given)


def _verify(path: Path, grid: Grid | None, given: dict[str, Any]) -> Results:
    return verify(path, grid=grid, **given)


def _ptx(files: dict[str, Any]) -> Path:
    """The file of the PTX, beside which lie those that tell of the launch."""
    for name, path in files.items():
        if name.endswith(".ptx"):
            return Path(path)
    raise GpuvccError("Triton kept no PTX: unset TRITON_STORE_BINARY_ONLY")


def _watch_launches(launched: Callable[[Any, Grid | None], None]) -> Callable[[], None]:
    """Covers ``JITFunction.run``, for none of Triton's hooks is told the grid. Returns what uncovers it."""
    original = JITFunction.run

    @functools.wraps(original)
    def run(self: Any, *arguments: Any, grid: Any, warmup: bool, **named: Any) -> Any:
        sizes = None if warmup else _sizes(self, grid, arguments, named)
        with _launch(sizes):
            kernel = original(self, *arguments, grid=grid, warmup=warmup, **named)
        launched(kernel, sizes)
        return kernel

    JITFunction.run = run

    def uncover() -> None:
        JITFunction.run = original

    return uncover


@contextlib.contextmanager
def _launch(sizes: Grid | None) -> Iterator[None]:
    token = _grid.set(sizes)
    try:
        yield
    finally:
        _grid.reset(token)


def _sizes(function: Any, grid: Any, arguments: tuple[Any, ...], named: dict[str, Any]) -> Grid | None:
    """The three sizes of a launch; none where they cannot be known before the kernel is compiled."""
    if grid is None:
        return None
    if callable(grid):
        parameters = function.signature.parameters
        try:
            bound = function.signature.bind(*arguments, **{key: named[key] for key in named if key in parameters})
            bound.apply_defaults()
            grid = grid(bound.arguments)
        except Exception:  # noqa: BLE001  It is the caller's code: Triton will call it again, and show its errors.
            return None
    sizes = tuple(int(size) for size in grid)
    return sizes + (1,) * (3 - len(sizes))
