"""``gpuvcc.dask``: several worker processes say what one process says."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import gpuvcc
import gpuvcc.dask
import pytest
from distributed import Client, LocalCluster, get_task_stream

MODULES = ("saxpy", "saxpy_broken", "ballot", "reduce_sequential", "atomic_max", "barrier_arms_broken")


@pytest.fixture(scope="module")
def client() -> Iterator[Client]:
    with (
        LocalCluster(n_workers=3, threads_per_worker=1, processes=True, dashboard_address=None) as cluster,
        Client(cluster) as one,
    ):
        yield one


@pytest.fixture
def folder(kernels: Path, tmp_path: Path) -> Path:
    place = tmp_path / "kernels"
    (place / "below").mkdir(parents=True)
    for number, name in enumerate(MODULES):
        shutil.copy(kernels / f"{name}.ptx", place / "below" if number % 2 else place)
    # A module that has functions only, which is no error in a folder with kernels.
    (place / "library.ptx").write_text(
        ".version 8.0\n.target sm_70\n.address_size 64\n.visible .func f() {\n  ret;\n}\n"
    )
    (place / "gpuvcc.toml").write_text('[[kernel]]\nname = "saxpy"\nlaunch = [{ block = [64], grid = [8] }]\n')
    # That of a folder below is another project's, which is not that of the folder that is named.
    (place / "below/gpuvcc.toml").write_text('[[kernel]]\nname = "*"\nlaunch = [{ block = [32], grid = [2] }]\n')
    return place


def untimed(report: str) -> Any:
    value = json.loads(report)
    for kernel in value["kernels"]:
        del kernel["time_ms"]
    return value


def whole(*arguments: str | Path) -> tuple[Any, int]:
    """What one process says."""
    done = subprocess.run([gpuvcc.program(), "--format=json", *arguments], capture_output=True, text=True, check=False)
    return untimed(done.stdout), done.returncode


def test_workers_are_several_processes(client: Client) -> None:
    assert len(client.run(os.getpid)) == 3


def test_same_answers_in_the_same_order(client: Client, folder: Path) -> None:
    merged = gpuvcc.dask.report([folder], client, None, {})
    assert (untimed(merged.text), merged.exit) == whole(folder)
    assert len(untimed(merged.text)["kernels"]) == len(MODULES)
    # By options, and file by file in another order.
    files = sorted(folder.rglob("*_broken.ptx"), reverse=True) + [folder / "saxpy.ptx"]
    merged = gpuvcc.dask.report(files, client, None, {"block": 128, "grid": 64, "timeout": 50})
    assert (untimed(merged.text), merged.exit) == whole("--block=128", "--grid=64", "--timeout=50", *files)
    assert [kernel["file"] for kernel in untimed(merged.text)["kernels"]] == [str(file) for file in files]


def test_tasks_run_on_the_workers(client: Client, folder: Path) -> None:
    with get_task_stream(client) as stream:
        results = gpuvcc.dask.verify(folder, client, block=128, grid=64)
    assert isinstance(results, gpuvcc.Results)
    verified = {Path(report.file).stem for report in results if report.verified}
    assert verified >= {"saxpy", "ballot", "reduce_sequential"}
    assert not any(name.endswith("_broken") for name in verified)
    tasks = [task for task in stream.data if "_verify_one" in str(task["key"])]
    # The library is a task, too.
    assert len(tasks) == len(MODULES) + 1
    assert len({task["worker"] for task in tasks}) > 1


def test_launches_of_other_modules(client: Client, folder: Path, tmp_path: Path) -> None:
    launches = tmp_path / "launches.jsonl"
    launches.write_text('{"kernel": "saxpy", "block": [96], "grid": [2]}\n')
    (folder / "below/gpuvcc.toml").unlink()
    options = {"launches": launches, "cache": tmp_path / "answers"}
    merged = gpuvcc.dask.report([folder], client, None, options)
    assert (untimed(merged.text), merged.exit) == whole(f"--launches={launches}", folder)
    # Of no module: an error.
    launches.write_text('{"kernel": "nothing", "block": [96], "grid": [2]}\n')
    merged = gpuvcc.dask.report([folder], client, None, options)
    assert (untimed(merged.text)["errors"][0]["code"], merged.exit) == ("launches", 2)


def test_errors_are_those_of_the_program(client: Client, folder: Path) -> None:
    with pytest.raises(gpuvcc.UsageError, match="neither a size"):
        gpuvcc.dask.verify(folder, client, block=0)
    (folder / "wrong.ptx").write_text(".version 8.0\n.target sm_70\n.frobnicate\n")
    with pytest.raises(gpuvcc.InputErrors, match=r"wrong\.ptx:3") as caught:
        gpuvcc.dask.verify(folder, client)
    assert len(caught.value.results) == len(MODULES)
    with pytest.raises(gpuvcc.InputErrors, match="no_such"):
        gpuvcc.dask.verify(folder / "no_such.ptx", client)


def test_many_reports_are_merged_in_steps(
    client: Client, folder: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(gpuvcc.dask, "_AT_ONCE", 2)
    merged = gpuvcc.dask.report([folder], client, None, {"cache": tmp_path / "answers"})
    assert (untimed(merged.text), merged.exit) == whole(folder)


def test_command_line(folder: Path, tmp_path: Path) -> None:
    """With a cluster of its own, and with one that runs; what is kept is taken."""
    answers = tmp_path / "answers"
    command = [sys.executable, "-m", "gpuvcc.dask", str(folder)]
    options = ["--", "--block=128", "--grid", "64", "--cache", str(answers)]
    expected, exit = whole("--block=128", "--grid=64", folder)
    done = subprocess.run([*command, "--workers", "2", *options], capture_output=True, text=True, check=False)
    assert done.stdout, done.stderr
    assert (untimed(done.stdout), done.returncode) == (expected, exit)
    assert len([file for file in answers.rglob("*") if file.is_file()]) == len(MODULES)
    with LocalCluster(n_workers=1, threads_per_worker=1, processes=True, dashboard_address=None) as cluster:
        report = tmp_path / "report.json"
        more = ["--scheduler", cluster.scheduler_address, "-o", str(report)]
        done = subprocess.run([*command, *more, *options], capture_output=True, text=True, check=False)
    assert (untimed(report.read_text()), done.returncode) == (expected, exit)
    # The very report that was kept, with its times.
    wrong = subprocess.run(
        [*command, "--workers", "1", "--", "--block", "0"], capture_output=True, text=True, check=False
    )
    assert (wrong.returncode, "neither a size" in wrong.stderr) == (2, True)
