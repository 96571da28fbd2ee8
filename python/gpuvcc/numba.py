"""Verifies kernels of Numba, compiled by ``numba.cuda.compile_ptx``; no GPU is needed for that.

    results = gpuvcc.numba.verify(scale, (float32[::1], float32), block=256)

    with gpuvcc.numba.check(block=256) as checked:
        ptx, result = numba.cuda.compile_ptx(scale, (float32[::1], float32))

Numba has no hook: ``check`` covers ``compile_ptx`` of the module ``numba.cuda`` as long as it is open, so call it
through the module. Lines are those of the Python file: ``lineinfo`` is switched on. Numba passes arrays as pointers
and sizes, and its PTX knows no launch: give ``block`` and ``grid``.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Collection
from typing import Any

from numba import cuda as _cuda

from . import verification
from .hooks import ALLOWED, Check, options
from .reports import Results

# Its functions have no types, and one is covered below.
cuda: Any = _cuda


def verify(function: Callable[..., Any], signature: Any, *, compile: Any = None, **verify_options: Any) -> Results:
    """Compiles a Python function as a kernel and verifies it.

    ``signature`` is what ``compile_ptx`` takes, ``compile`` a dictionary of its other options, such as
    ``{"cc": (8, 0), "fastmath": True}``; all others are those of ``gpuvcc.verify``.
    """
    chosen = {"lineinfo": True, **(compile or {})}
    text, _ = cuda.compile_ptx(function, signature, **chosen)
    return verification.verify(text, **verify_options)


def check(*, allow: Collection[str] = ALLOWED, raises: bool = True, **verify_options: Any) -> Check:
    """Verifies what ``numba.cuda.compile_ptx`` compiles from now on, until the answer is closed.

    A kernel with a verdict that ``allow`` does not name raises `NotVerified` where it is compiled; with
    ``raises=False`` answers are only collected. Device functions are no kernels, and not looked at.
    """
    given = options(verify_options, "launches")
    original = cuda.compile_ptx

    @functools.wraps(original)
    def compile_ptx(pyfunc: Any, sig: Any, *arguments: Any, **named: Any) -> Any:
        # The third and the fourth argument are `debug` and `lineinfo`; debug information has lines, too.
        is_told = len(arguments) > 1 or named.get("debug") or (arguments and arguments[0])
        if not is_told:
            named.setdefault("lineinfo", True)
        compiled = original(pyfunc, sig, *arguments, **named)
        if ".entry" in compiled[0]:
            session.add(compiled[0], lambda: verification.verify(compiled[0], **given))
        return compiled

    def remove() -> None:
        cuda.compile_ptx = original

    session = Check(remove, allow=allow, raises=raises)
    cuda.compile_ptx = compile_ptx
    return session
