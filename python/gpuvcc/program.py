"""Where the program is."""

from __future__ import annotations

import importlib.metadata
import os
import shutil
import sysconfig
from pathlib import Path


class ProgramNotFound(RuntimeError):
    """No program ``gpuvcc`` can be run."""


def program() -> str:
    """The path of the program: ``GPUVCC_PROGRAM``, that of the wheel, or the first on the ``PATH``."""
    named = os.environ.get("GPUVCC_PROGRAM")
    if named:
        if not os.access(named, os.X_OK):
            raise ProgramNotFound(f"GPUVCC_PROGRAM names `{named}`, which is no program")
        return named
    for path in (*_of_the_wheel(), Path(sysconfig.get_path("scripts")) / "gpuvcc"):
        if os.access(path, os.X_OK):
            return str(path)
    found = shutil.which("gpuvcc")
    if found is None:
        raise ProgramNotFound("no program `gpuvcc` in the wheel or on the PATH; set GPUVCC_PROGRAM to its path")
    return found


def _of_the_wheel() -> list[Path]:
    """The program itself in front of the script that starts it, which would start Python once more."""
    try:
        files = importlib.metadata.files("gpuvcc") or []
    except importlib.metadata.PackageNotFoundError:
        return []
    own = [file for file in files if file.name == "gpuvcc" and len(file.parts) > 1]
    own.sort(key=lambda file: not file.parts[0].endswith(".scripts"))
    return [Path(str(file.locate())) for file in own]
