"""``verify``: one run of the program, and its answers as objects."""

from __future__ import annotations

import json
import os
import subprocess
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Union

from .program import program
from .reports import Report, Results, from_json

#: Threads or blocks: a number, one to three numbers (``None`` and "*" are any), or text as on the command line.
SizesLike = int | str | Sequence[int | str | None]
Source = Union[str, "os.PathLike[str]"]

_INTERRUPTED = 130
_USAGE = 2
_INTERNAL = 4


class GpuvccError(Exception):
    """What this package raises."""


class UsageError(GpuvccError, ValueError):
    """The program refuses its arguments."""


class InternalError(GpuvccError):
    """A fault of the program itself."""


class InputErrors(GpuvccError):
    """An input cannot be read, or is wrong. ``results`` has the answers for the others."""

    def __init__(self, results: Results) -> None:
        super().__init__("\n".join(str(error) for error in results.errors))
        self.results = results


class NotVerified(GpuvccError, AssertionError):
    """A kernel has another verdict than those that are allowed. ``reports`` has these kernels."""

    def __init__(self, reports: Sequence[Report]) -> None:
        super().__init__("\n".join(str(report) for report in reports))
        self.reports = tuple(reports)


def verify(
    source: Source,
    *,
    block: SizesLike | None = None,
    grid: SizesLike | None = None,
    params: Mapping[str | int, int] | None = None,
    entry: str | Iterable[str] = (),
    launches: Source | Iterable[Mapping[str, Any]] | None = None,
    project: Source | None = None,
    annotations: Source | None = None,
    target: str | None = None,
    max_threads: int | None = None,
    timeout: int | None = None,
    memory: int | None = None,
    jobs: int | None = None,
    cache: Source | None = None,
    any_values: bool = False,
    allow_same_value: bool = False,
    volatile_races: bool = False,
    may_alias: bool = False,
    exited_threads_ok: bool = False,
    unknown_functions_arbitrary: bool = False,
    check_bounds: bool = False,
    redundant: bool = False,
    invariants: bool = False,
    stats: bool = False,
) -> Results:
    """Verifies the kernels of a file, a folder, or a text in PTX.

    A ``source`` that has more than one line is PTX itself; anything else is a path. ``block``, ``grid`` and ``params``
    (scalars, by name or position) that are not given are free, so that the answer is about all launches. The other
    arguments are the options of the command line, ``gpuvcc --help``: ``timeout`` in seconds for a kernel, ``memory``
    in 10^6 bytes, ``cache`` a folder of answers. Raises `UsageError`, `InputErrors` or `InternalError`; a defect is an
    answer and no exception.
    """
    text, name = _source(source)
    with tempfile.TemporaryDirectory(prefix="gpuvcc-") as folder:
        arguments = options_text(
            block=block,
            grid=grid,
            params=params,
            launches=_launches(launches, folder),
            project=project,
            annotations=annotations,
            target=target,
            max_threads=max_threads,
            timeout=timeout,
            memory=memory,
            jobs=jobs,
            cache=cache,
            any_values=any_values,
            allow_same_value=allow_same_value,
            volatile_races=volatile_races,
            may_alias=may_alias,
            exited_threads_ok=exited_threads_ok,
            unknown_functions_arbitrary=unknown_functions_arbitrary,
            check_bounds=check_bounds,
            redundant=redundant,
            invariants=invariants,
            stats=stats,
        )
        arguments += [f"--entry={one}" for one in ([entry] if isinstance(entry, str) else entry)]
        return _run([*arguments, "--", name], text)


def options_text(
    *,
    block: SizesLike | None = None,
    grid: SizesLike | None = None,
    params: Mapping[str | int, int] | None = None,
    launches: Source | None = None,
    project: Source | None = None,
    annotations: Source | None = None,
    target: str | None = None,
    max_threads: int | None = None,
    timeout: int | None = None,
    memory: int | None = None,
    jobs: int | None = None,
    cache: Source | None = None,
    any_values: bool = False,
    allow_same_value: bool = False,
    volatile_races: bool = False,
    may_alias: bool = False,
    exited_threads_ok: bool = False,
    unknown_functions_arbitrary: bool = False,
    check_bounds: bool = False,
    redundant: bool = False,
    invariants: bool = False,
    stats: bool = False,
) -> list[str]:
    """The options of the command line that the arguments of `verify` stand for."""
    arguments: list[str] = []
    for option, value in (
        ("--block", None if block is None else _sizes(block)),
        ("--grid", None if grid is None else _sizes(grid)),
        ("--launches", _path(launches)),
        ("--project", _path(project)),
        ("--annotations", _path(annotations)),
        ("--target", target),
        ("--max-threads", max_threads),
        ("--timeout", timeout),
        ("--memory", memory),
        ("--jobs", jobs),
        ("--cache", _path(cache)),
        ("--exited-threads", "ok" if exited_threads_ok else None),
        ("--unknown-functions", "arbitrary" if unknown_functions_arbitrary else None),
    ):
        if value is not None:
            arguments.append(f"{option}={value}")
    for option, is_set in (
        ("--any-values", any_values),
        ("--allow-same-value", allow_same_value),
        ("--volatile-races", volatile_races),
        ("--may-alias", may_alias),
        ("--check-bounds", check_bounds),
        ("--redundant", redundant),
        ("--invariants", invariants),
        ("--stats", stats),
    ):
        if is_set:
            arguments.append(option)
    return arguments + [f"--param={key}={int(value)}" for key, value in (params or {}).items()]


def _run(arguments: Sequence[str], text: str | None) -> Results:
    command = [program(), "--format=json", *arguments]
    ran = subprocess.run(command, check=False, input=text, capture_output=True, text=True, encoding="utf-8")
    if ran.returncode == _INTERRUPTED:
        raise KeyboardInterrupt
    if not ran.stdout.strip():
        message = ran.stderr.strip() or f"exit code {ran.returncode}"
        raise UsageError(message) if ran.returncode == _USAGE else InternalError(message)
    return results_of(ran.stdout, ran.returncode, ran.stderr)


def results_of(report: str, exit: int, messages: str) -> Results:
    """The answers of a run that printed this report and these messages; raises as `verify`."""
    results = from_json(Results, json.loads(report))
    if results.errors:
        raise InputErrors(results)
    if exit == _INTERNAL or exit < 0:
        raise InternalError(messages.strip() or str(results))
    return results


def _source(source: Source) -> tuple[str | None, str]:
    """The text for the standard input, if any, and the name of the input."""
    if isinstance(source, str) and "\n" in source:
        return source, "-"
    path = os.fspath(source)
    if path == "-":
        raise UsageError("`-` is no file here: give the text itself")
    return None, path


def _path(path: Source | None) -> str | None:
    return None if path is None else os.fspath(path)


def _sizes(sizes: SizesLike) -> str:
    if isinstance(sizes, (int, str)):
        return str(sizes)
    return ",".join("*" if size is None else str(size) for size in sizes)


def _launches(launches: Source | Iterable[Mapping[str, Any]] | None, folder: str) -> str | None:
    if launches is None or isinstance(launches, (str, os.PathLike)):
        return _path(launches)
    path = Path(folder) / "launches.jsonl"
    path.write_text("".join(json.dumps(dict(launch)) + "\n" for launch in launches), encoding="utf-8")
    return str(path)
