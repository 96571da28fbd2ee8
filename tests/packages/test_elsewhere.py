"""What runs on machines of others: the steps of the action, the hooks for pre-commit, the notes of a release."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import yaml


def run(command: list[str | Path], *, cwd: Path, env: dict[str, str] | None = None, input: str | None = None) -> str:
    """What a command prints; it must succeed."""
    done = subprocess.run(
        command, cwd=cwd, env={**os.environ, **(env or {})}, input=input, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture
def folder(tmp_path: Path, kernels: Path) -> Path:
    for name in ("saxpy.ptx", "saxpy_broken.ptx"):
        shutil.copy(kernels / name, tmp_path)
    return tmp_path


@pytest.mark.parametrize(
    ("files", "arguments", "fail_on", "exit"),
    [
        ("saxpy.ptx", "--block 256 --grid 64", "any", 0),
        ("saxpy.ptx saxpy_broken.ptx", "--block 256 --grid 64", "defect", 1),
        # Without sizes there are conditions, so that it is not proved for all launches.
        ("saxpy.ptx", "", "any", 1),
        ("saxpy.ptx", "", "defect, possible", 0),
        ("saxpy.ptx", "", "never", 2),
    ],
)
def test_action(root: Path, wheel: Path, folder: Path, files: str, arguments: str, fail_on: str, exit: int) -> None:
    """The steps as GitHub runs them: values of inputs come in the environment."""
    action = yaml.safe_load((root / "action.yml").read_text())
    inputs = {name: str(value.get("default", "")) for name, value in action["inputs"].items()}
    inputs |= {"files": files, "arguments": arguments, "fail-on": fail_on, "wheel": str(wheel)}
    given = {"RUNNER_TEMP": str(folder / "temp"), "GITHUB_OUTPUT": str(folder / "output")}
    done = None
    for step in action["runs"]["steps"]:
        for name, value in step["env"].items():
            given[name] = inputs[value.removeprefix("${{ inputs.").removesuffix(" }}")]
        script = folder / "step.sh"
        script.write_text(step["run"])
        shell = ["bash", "--noprofile", "--norc", "-eo", "pipefail", str(script)]
        done = subprocess.run(
            shell, cwd=folder, env={**os.environ, **given}, capture_output=True, text=True, check=False
        )
    assert done is not None
    assert done.returncode == exit, done.stdout + done.stderr
    assert f"exit-code={exit}\n" in (folder / "output").read_text()
    if exit != 2:
        assert '"version": "2.1.0"' in (folder / "gpuvcc.sarif").read_text()
        assert "saxpy" in done.stdout


def test_pre_commit(root: Path, folder: Path) -> None:
    """The hook that takes the program on the PATH, in a repository with one kernel that is proved and one that races."""
    pre_commit = Path(sys.executable).with_name("pre-commit")
    run([pre_commit, "validate-manifest", root / ".pre-commit-hooks.yaml"], cwd=folder)
    path = f"{pre_commit.parent}{os.pathsep}{os.environ['PATH']}"
    environment = {"PATH": path, "PRE_COMMIT_HOME": str(folder / "home"), "GIT_CONFIG_COUNT": "1"}
    environment |= {"GIT_CONFIG_KEY_0": "safe.directory", "GIT_CONFIG_VALUE_0": "*"}
    (folder / "gpuvcc.toml").write_text('[[kernel]]\nname = "*"\n[[kernel.launch]]\nblock = [256]\ngrid = [64]\n')
    run(["git", "init", "--quiet"], cwd=folder)
    run(["git", "add", "saxpy.ptx", "saxpy_broken.ptx", "gpuvcc.toml"], cwd=folder)
    command = [str(pre_commit), "try-repo", str(root), "gpuvcc-system", "--files"]
    run([*command, "saxpy.ptx"], cwd=folder, env=environment)
    done = subprocess.run(
        [*command, "saxpy_broken.ptx"],
        cwd=folder,
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 1, done.stdout + done.stderr
    assert "saxpy_broken.ptx: saxpy: race, block 256, grid 64" in done.stdout


def test_release_notes(root: Path) -> None:
    version = run(["sed", "-n", 's/^version = "\\(.*\\)"$/\\1/p', "Cargo.toml"], cwd=root).split()[0]
    assert run(["tools/release-notes", f"v{version}"], cwd=root).strip()
    wrong = subprocess.run([root / "tools/release-notes", "v0.0.0"], capture_output=True, text=True, check=False)
    assert wrong.returncode == 1
    assert "Cargo.toml has" in wrong.stderr
