"""The Python code is formatted and typed; what runs elsewhere is at least well formed."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
import yaml

PYTHON = ["python", "tests/packages", "tools/figures", "tools/licences"]


def run(root: Path, *command: str) -> None:
    done = subprocess.run([sys.executable, "-m", *command], cwd=root, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def test_formatted(root: Path) -> None:
    run(root, "ruff", "format", "--check", *PYTHON)


def test_typed(root: Path) -> None:
    run(root, "mypy")


@pytest.mark.parametrize("file", ["action.yml", ".pre-commit-hooks.yaml", "docs/github-workflow.yml"])
def test_yaml(root: Path, file: str) -> None:
    assert yaml.safe_load((root / file).read_text())


def test_workflows_are_yaml(root: Path) -> None:
    files = list((root / ".github/workflows").glob("*.yml"))
    assert files
    for file in files:
        assert "jobs" in yaml.safe_load(file.read_text())


def test_steps_of_shell_are_shell(root: Path) -> None:
    """What a step runs is read by the shell, without running it."""
    for file in ("action.yml", ".github/workflows/release.yml", "docs/github-workflow.yml"):
        document = yaml.safe_load((root / file).read_text())
        jobs = document["jobs"].values() if "jobs" in document else [document["runs"]]
        for step in (step for job in jobs for step in job["steps"] if "run" in step):
            done = subprocess.run(["bash", "-n"], input=step["run"], capture_output=True, text=True, check=False)
            assert done.returncode == 0, f"{file}: {done.stderr}"
