"""Many modules on the workers of a Dask cluster: ``pip install gpuvcc[dask]``.

A task is a module, and one run of the program on a worker. The answers are merged by ``gpuvcc merge`` in the order of
the input, so that they are those of one process but for the times. Workers see the files under the same names as the
client, as on one machine or in a shared file system, and have the same gpuvcc.

    python -m gpuvcc.dask [--workers N | --scheduler ADDRESS] [-o REPORT] FILE... [-- OPTIONS]
"""

from __future__ import annotations

import argparse
import contextlib
import dataclasses
import importlib
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from .program import program
from .reports import Results
from .verification import InternalError, Source, UsageError, options_text, results_of

#: So many reports are merged by one command: their names have to fit a command line.
_AT_ONCE = 500
#: The project file, and what a module of a folder answers that one run over the folder passes over.
_PROJECT = "gpuvcc.toml"
_PASSED_OVER = {"no-kernel", "no-such-target"}
_USAGE = 2
_INTERRUPTED = 130


@dataclasses.dataclass(frozen=True)
class Merged:
    """The report of all modules, as the program prints it."""

    #: JSON, as of ``--format json``.
    text: str
    #: The exit code of the run that it stands for.
    exit: int


@dataclasses.dataclass(frozen=True)
class _Module:
    """A task."""

    #: What the user named.
    path: str
    file: str
    #: Of a module in a folder the project file of the folder; "" where it has none.
    project: str | None = None


@dataclasses.dataclass(frozen=True)
class _Part:
    """What the program says of one module."""

    text: str
    #: The file of launches has no line about this module. Then the answers are those without the file.
    other_launches: str | None = None


def verify(
    paths: Source | Iterable[Source], client: Any = None, *, workers: int | None = None, **options: Any
) -> Results:
    """Verifies modules on the workers of a cluster; folders are those of their modules.

    ``client`` is a ``distributed.Client``; without one a cluster of so many worker processes of this machine is there
    for the call (unless ``workers`` says otherwise, one a core). The options are those of `gpuvcc.verify` but for
    ``entry`` and ``jobs``; ``launches`` is a file. Results, their order and what is raised are as of `gpuvcc.verify` for
    all paths.
    """
    merged = report([paths] if isinstance(paths, (str, os.PathLike)) else list(paths), client, workers, options)
    return results_of(merged.text, merged.exit, "")


def report(
    paths: Sequence[Source], client: Any, workers: int | None, options: dict[str, Any], more: Sequence[str] = ()
) -> Merged:
    """The report itself. ``more`` are further options as on the command line."""
    arguments = [*options_text(**options), *more]
    modules = [module for path in paths for module in _modules(os.fspath(path))]
    with _cluster(client, workers) as chosen:
        futures = chosen.map(_verify_one, modules, arguments=arguments, folder=os.getcwd(), pure=False)
        parts: list[_Part] = chosen.gather(futures)
    return _merge(_of_one_run([module.path for module in modules], parts))


def _distributed() -> Any:
    try:
        return importlib.import_module("distributed")
    except ImportError as error:
        raise ModuleNotFoundError("Dask is missing: pip install gpuvcc[dask]") from error


@contextlib.contextmanager
def _cluster(client: Any, workers: int | None) -> Iterator[Any]:
    if client is not None:
        yield client
        return
    distributed = _distributed()
    # The program has threads of its own; a worker waits for one at a time.
    count = workers if workers is not None else os.cpu_count() or 1
    with (
        distributed.LocalCluster(
            n_workers=count, threads_per_worker=1, processes=True, dashboard_address=None
        ) as cluster,
        distributed.Client(cluster) as own,
    ):
        yield own


def _modules(path: str) -> list[_Module]:
    """The modules of a file or a folder. Only a folder has several tasks."""
    if not Path(path).is_dir():
        return [_Module(path, path)]
    ran = _run(["--list", "--", path])
    # What cannot be read or listed tells its own error, as the only task.
    listed = ran.stdout.splitlines() if ran.returncode == 0 else []
    project = _project_of(path)
    return [_Module(path, file, project) for file in listed] or [_Module(path, path)]


def _project_of(folder: str) -> str:
    """The project file of a folder as the program finds it: in it, or above up to that of the repository."""
    whole = Path(folder).resolve()
    above = [whole, *whole.parents]
    height = next((number for number, one in enumerate(above) if (one / ".git").exists()), 0)
    for number, one in enumerate(above[: height + 1]):
        if (one / _PROJECT).is_file():
            return str(Path(folder) / _PROJECT if number == 0 else one / _PROJECT)
    return ""


def _run(arguments: Sequence[str]) -> subprocess.CompletedProcess[str]:
    return subprocess.run([program(), *arguments], check=False, capture_output=True, text=True, encoding="utf-8")


def _verify_one(module: _Module, *, arguments: Sequence[str], folder: str) -> _Part:
    """Runs on a worker."""
    with tempfile.TemporaryDirectory(prefix="gpuvcc-") as scratch:
        os.chdir(folder)
        command = ["--format=json", "--jobs=1", *arguments]
        if not _has(arguments, "--cache") and not os.environ.get("GPUVCC_CACHE"):
            command.append(f"--cache={scratch}/answers")
        if module.project is not None and not _has(arguments, "--project"):
            none = Path(scratch) / _PROJECT
            none.touch()
            command.append(f"--project={module.project or none}")
        text = _report([*command, "--", module.file])
        errors = json.loads(text)["errors"]
        if any(_is_about_other_launches(error) for error in errors):
            # The lines are about other modules. Without them the answers are the same, and in the cache.
            without = _without(command, "--launches")
            return _Part(_report([*without, "--", module.file]), text)
        return _Part(text)


def _without(arguments: Sequence[str], option: str) -> list[str]:
    """The arguments without an option and its value, which may be a word of its own."""
    places = [number for number, one in enumerate(arguments) if one == option]
    gone = {*places, *(number + 1 for number in places)}
    return [one for number, one in enumerate(arguments) if number not in gone and not one.startswith(f"{option}=")]


def _has(arguments: Sequence[str], option: str) -> bool:
    return any(one == option or one.startswith(f"{option}=") for one in arguments)


def _report(arguments: Sequence[str]) -> str:
    ran = _run(arguments)
    if ran.returncode == _INTERRUPTED:
        raise KeyboardInterrupt
    if not ran.stdout.strip():
        message = ran.stderr.strip() or f"exit code {ran.returncode}"
        raise UsageError(message) if ran.returncode == _USAGE else InternalError(message)
    return ran.stdout


def _is_about_other_launches(error: dict[str, Any]) -> bool:
    return bool(error["code"] == "launches" and error["message"].startswith("no kernel of the input is called"))


def _of_one_run(paths: Sequence[str], parts: Sequence[_Part]) -> list[str]:
    """The reports, without errors that one run over all of them does not have."""
    if parts and all(part.other_launches is not None for part in parts):
        # No module has a kernel that the file launches: an error, which one of them tells.
        texts = [part.other_launches or part.text for part in parts[:1]] + [part.text for part in parts[1:]]
    else:
        texts = [part.text for part in parts]
    reports = [json.loads(text) for text in texts]
    with_kernels = {path for path, one in zip(paths, reports, strict=True) if one["kernels"]}
    is_needed = [
        path not in with_kernels
        or bool(one["kernels"])
        or any(error["code"] not in _PASSED_OVER for error in one["errors"])
        for path, one in zip(paths, reports, strict=True)
    ]
    return [text for text, needed in zip(texts, is_needed, strict=True) if needed]


def _merge(texts: Sequence[str]) -> Merged:
    """Reports as one, in their order."""
    with tempfile.TemporaryDirectory(prefix="gpuvcc-") as folder:
        level = 0
        while True:
            level += 1
            merged: list[Merged] = []
            for start in range(0, len(texts), _AT_ONCE):
                files = []
                for number, text in enumerate(texts[start : start + _AT_ONCE]):
                    file = Path(folder) / f"{level}-{start + number}.json"
                    file.write_text(text, encoding="utf-8")
                    files.append(str(file))
                ran = _run(["merge", *files])
                if not ran.stdout.strip():
                    raise InternalError(ran.stderr.strip() or f"exit code {ran.returncode}")
                merged.append(Merged(ran.stdout, ran.returncode))
            if len(merged) == 1:
                return merged[0]
            if not merged:
                raise UsageError("no path is given")
            texts = [one.text for one in merged]


def main(arguments: Sequence[str] | None = None) -> int:
    """``python -m gpuvcc.dask``: prints the report in JSON; the exit code is that of the program."""
    parser = argparse.ArgumentParser(prog="python -m gpuvcc.dask", description="Verify modules on a Dask cluster.")
    parser.add_argument("files", nargs="+", metavar="FILE", help="modules, or folders of them")
    where = parser.add_mutually_exclusive_group()
    where.add_argument("--workers", type=int, metavar="N", help="processes of this machine  [default: one a core]")
    where.add_argument("--scheduler", metavar="ADDRESS", help="that of a cluster that runs, such as tcp://host:8786")
    parser.add_argument("-o", "--output", metavar="REPORT", help="where the report goes  [default: standard output]")
    given = list(sys.argv[1:] if arguments is None else arguments)
    split = given.index("--") if "--" in given else len(given)
    chosen, more = parser.parse_args(given[:split]), given[split + 1 :]
    try:
        with contextlib.ExitStack() as stack:
            client = None
            if chosen.scheduler is not None:
                client = stack.enter_context(_distributed().Client(chosen.scheduler))
            merged = report(chosen.files, client, chosen.workers, {}, more)
    except UsageError as error:
        print(error, file=sys.stderr)
        return _USAGE
    if chosen.output is None:
        sys.stdout.write(merged.text)
    else:
        Path(chosen.output).write_text(merged.text, encoding="utf-8")
    return merged.exit


if __name__ == "__main__":
    # By its own name, so that workers find what they are to run.
    from gpuvcc.dask import main as own_main

    sys.exit(own_main())
