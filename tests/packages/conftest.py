"""What the tests of the packages share."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

pytest_plugins = ["pytester"]

ROOT = Path(__file__).resolve().parent.parent.parent


@pytest.fixture(scope="session")
def root() -> Path:
    """The repository."""
    return ROOT


@pytest.fixture(scope="session")
def kernels() -> Path:
    """The shipped kernels."""
    return ROOT / "tests/kernels"


@pytest.fixture(scope="session")
def wheel() -> Path:
    """The wheel under test."""
    path = Path(os.environ["GPUVCC_WHEEL"])
    assert path.is_file(), path
    return path
