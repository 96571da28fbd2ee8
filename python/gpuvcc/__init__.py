"""Proves that GPU kernels in PTX have no data race and no barrier divergence.

``gpuvcc.verify`` runs the program ``gpuvcc`` and returns its answers as typed objects; nothing is decided here.
``gpuvcc.triton`` and ``gpuvcc.numba`` verify what these compilers make, ``gpuvcc.dask`` verifies on a cluster, and the pytest plugin comes with the package.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from .program import ProgramNotFound, program
from .reports import (
    Access,
    Checked,
    Exact,
    Execution,
    Finding,
    InputError,
    Invariant,
    Launch,
    Launched,
    LoopInvariants,
    Place,
    Reason,
    Redundant,
    Related,
    Report,
    Results,
    Stage,
    Step,
    Unsupported,
    Wait,
)
from .verification import GpuvccError, InputErrors, InternalError, NotVerified, UsageError, verify

if TYPE_CHECKING:
    from . import dask, numba, triton

__all__ = [
    "Access",
    "Checked",
    "Exact",
    "Execution",
    "Finding",
    "GpuvccError",
    "InputError",
    "InputErrors",
    "InternalError",
    "Invariant",
    "Launch",
    "Launched",
    "LoopInvariants",
    "NotVerified",
    "Place",
    "ProgramNotFound",
    "Reason",
    "Redundant",
    "Related",
    "Report",
    "Results",
    "Stage",
    "Step",
    "Unsupported",
    "UsageError",
    "Wait",
    "dask",
    "numba",
    "program",
    "triton",
    "verify",
]


def __getattr__(name: str) -> Any:
    """The hooks are imported when they are first used, since they need other packages."""
    if name in ("dask", "numba", "triton"):
        return importlib.import_module(f".{name}", __name__)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
