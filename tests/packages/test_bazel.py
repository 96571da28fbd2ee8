"""The rules for Bazel, with the Bazel of Debian, in a workspace of a few modules; nothing is downloaded."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import gpuvcc
import pytest

#: Modules that are proved for blocks of 128 threads.
MODULES = ("saxpy", "ballot", "reduce_sequential", "clamped_read", "atomic_max", "xor_partner")

BUILD = """
load("@gpuvcc//:gpuvcc.bzl", "gpuvcc_report", "gpuvcc_test")
[rule(
    name = name,
    srcs = glob(["*.ptx", "*.cu", "*.gpuvcc"]),
    options = ["--block=128", "--grid=64"],
    fail_on = "possible,defect",
) for name, rule in [("races", gpuvcc_test), ("report", gpuvcc_report)]]
"""


@dataclass
class Workspace:
    """A folder for Bazel, with a folder of answers that is a remote cache."""

    root: Path
    bases: int = 0

    @property
    def kernels(self) -> Path:
        return self.root / "workspace/kernels"

    def bazel(self, command: str, *targets: str, exit: int = 0) -> tuple[str, dict[str, int], list[str]]:
        """What it prints, how many actions ran where, and what the actions that ran did."""
        log = self.root / "log.json"
        log.unlink(missing_ok=True)
        options = ["--jobs=4", f"--disk_cache={self.root / 'cache'}", f"--execution_log_json_file={log}"]
        # Without a network, so that a rule that downloads something fails.
        options += ["--test_output=errors", "--color=no", "--sandbox_default_allow_network=false"]
        done = subprocess.run(
            ["bazel", f"--output_user_root={self.root / f'base{self.bases}'}", command, *options, *targets],
            cwd=self.root / "workspace",
            capture_output=True,
            text=True,
            check=False,
        )
        printed = done.stdout + done.stderr
        assert done.returncode == exit, printed
        counted = re.search(r"^INFO: \d+ process(?:es)?: (.*)\.$", printed, re.MULTILINE)
        assert counted is not None, printed
        parts = (part.split(" ", 1) for part in counted[1].split(", "))
        counts = {kind: int(count) for count, kind in parts}
        return printed, counts, [one["progressMessage"] for one in entries(log) if not one["remoteCacheHit"]]

    def fresh(self) -> None:
        """From now on nothing is known but what the cache has."""
        self.stop()
        self.bases += 1

    def stop(self) -> None:
        base = self.root / f"base{self.bases}"
        subprocess.run(
            ["bazel", f"--output_user_root={base}", "shutdown"], cwd=self.root / "workspace", check=False, timeout=60
        )


def entries(log: Path) -> list[dict[str, object]]:
    """The objects of the log, one behind the other, of what the rules do."""
    decoder, text, found = json.JSONDecoder(), log.read_text(), []
    while text.strip():
        one, end = decoder.raw_decode(text.lstrip())
        text = text.lstrip()[end:]
        found.append(one)
    return [one for one in found if one["mnemonic"].startswith("Gpuvcc")]


@pytest.fixture
def workspace(root: Path, kernels: Path, tmp_path: Path) -> Iterator[Workspace]:
    assert shutil.which("bazel"), "Bazel is missing: apt-get install bazel-bootstrap"
    made = Workspace(tmp_path)
    made.kernels.mkdir(parents=True)
    for name in MODULES:
        shutil.copy(kernels / f"{name}.ptx", made.kernels)
    shutil.copy(kernels / "saxpy.cu", made.kernels)
    (made.kernels / "BUILD.bazel").write_text(BUILD)
    (tmp_path / "workspace/WORKSPACE").write_text(
        f'workspace(name = "scratch")\n'
        f'local_repository(name = "gpuvcc", path = "{root / "bazel"}")\n'
        f'load("@gpuvcc//:gpuvcc.bzl", "gpuvcc_no_coverage", "gpuvcc_repository")\n'
        f'gpuvcc_repository(name = "gpuvcc_program", path = "{gpuvcc.program()}")\n'
        f"gpuvcc_no_coverage()\n"
    )
    yield made
    made.stop()
    # Bazel writes what it made without the right to change it.
    subprocess.run(["chmod", "-R", "u+w", tmp_path], check=True)


def test_builds_once_and_for_all(workspace: Workspace) -> None:
    actions = len(MODULES) + 1
    _, counts, ran = workspace.bazel("build", "//kernels:report")
    assert len(ran) == actions
    assert "remote cache hit" not in counts
    assert any("sandbox" in kind for kind in counts), counts
    report = workspace.kernels.parent / "bazel-bin/kernels/report.json"
    merged = json.loads(report.read_text())
    # What one process says, in its order.
    files = [f"kernels/{name}.ptx" for name in sorted(MODULES)]
    whole = subprocess.run(
        [gpuvcc.program(), "--format=json", "--block=128", "--grid=64", "--fail-on=possible,defect", *files],
        cwd=workspace.kernels.parent,
        capture_output=True,
        check=False,
    )
    expected = json.loads(whole.stdout)
    for kernel in expected["kernels"]:
        kernel["time_ms"] = 0
    assert merged == expected
    assert len(merged["kernels"]) == len(MODULES)

    # Another machine, which shares the cache.
    workspace.fresh()
    _, counts, ran = workspace.bazel("build", "//kernels:report")
    assert ran == []
    assert counts["remote cache hit"] == actions
    assert json.loads(report.read_text()) == expected

    # One module has another text: its action, and what merges all.
    module = workspace.kernels / "ballot.ptx"
    module.write_text(module.read_text() + "// a remark\n")
    _, _, ran = workspace.bazel("build", "//kernels:report")
    # The answer is as before, so that even the merged report is that of the cache.
    assert ran == ["Verifying kernels/ballot.ptx"]
    # What lies beside a module is its own.
    (workspace.kernels / "saxpy.ptx.gpuvcc").write_text("kernel saxpy:\n  at entry: requires %ntid.x == 128;\n")
    _, _, ran = workspace.bazel("build", "//kernels:report")
    assert sorted(ran) == ["Merging the reports of //kernels:report", "Verifying kernels/saxpy.ptx"]


def test_a_finding_fails_the_test(workspace: Workspace, kernels: Path) -> None:
    printed, _, _ = workspace.bazel("test", "//kernels:races")
    assert re.search(r"^//kernels:races\s+PASSED", printed, re.MULTILINE), printed
    broken = (kernels / "reduce_sequential_broken.ptx").read_text()
    (workspace.kernels / "reduce_sequential.ptx").write_text(broken)
    shutil.copy(kernels / "reduce_sequential_broken.cu", workspace.kernels / "reduce_sequential.broken.cu")
    printed, _, ran = workspace.bazel("test", "//kernels:races", exit=3)
    assert sorted(ran) == ["Merging the reports of //kernels:races", "Verifying kernels/reduce_sequential.ptx"]
    assert "reduce_sequential: race, block 128, grid 64" in printed
    assert re.search(r"reduce_sequential_broken\.cu:13\b", printed), printed
    # No PTX at all: an answer, too, with its line.
    (workspace.kernels / "reduce_sequential.ptx").write_text(".version 8.0\n.target sm_70\n.frobnicate\n")
    printed, _, _ = workspace.bazel("test", "//kernels:races", exit=3)
    assert "reduce_sequential.ptx:3" in printed


def test_what_is_wrong_is_no_answer(workspace: Workspace) -> None:
    build = workspace.kernels / "BUILD.bazel"
    build.write_text(BUILD.replace("--block=128", "--block=0"))
    done = subprocess.run(
        ["bazel", f"--output_user_root={workspace.root / 'base0'}", "build", "//kernels:report"],
        cwd=workspace.kernels,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 1
    assert "neither a size" in done.stderr
