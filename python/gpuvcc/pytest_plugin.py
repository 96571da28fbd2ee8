"""The pytest plugin: a test for each kernel of ``.ptx`` files, a fixture, and one line a kernel at the end.

``pytest --gpuvcc kernels/`` makes each ``.ptx`` file a collector and each of its kernels (in each of its launches) a
test. Launches are those of ``gpuvcc.toml`` or of a file: ``--gpuvcc-launches FILE``. Which kernels a file has, the
program says with its answers: the file is verified when its tests are collected.

The fixture ``gpuvcc_check`` verifies in a test what ``gpuvcc.verify`` takes, and fails the test where a kernel has
another verdict than those that are allowed.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from pathlib import Path
from typing import Any

import pytest

from .hooks import ALLOWED
from .reports import Report, Results
from .verification import GpuvccError, NotVerified, Source, verify

_REPORTS = pytest.StashKey[list[Report]]()


def pytest_addoption(parser: pytest.Parser) -> None:
    """The options of the plugin; each has a twin in the configuration file."""
    group = parser.getgroup("gpuvcc", "gpuvcc: races and barrier divergence of GPU kernels")
    group.addoption("--gpuvcc", action="store_true", help="verify each kernel of each .ptx file as a test")
    group.addoption("--gpuvcc-launches", metavar="FILE", help="their launches, a JSON object a line")
    allow = "verdicts that pass, with commas between them (default: verified,verified-when)"
    group.addoption("--gpuvcc-allow", metavar="VERDICTS", help=allow)
    parser.addini("gpuvcc", "verify each kernel of each .ptx file as a test", type="bool", default=False)
    parser.addini("gpuvcc_launches", "launches of .ptx files, a JSON object a line", default="")
    parser.addini("gpuvcc_allow", "verdicts that pass", type="args", default=list(ALLOWED))
    parser.addini("gpuvcc_timeout", "seconds for a kernel", default="60")


def pytest_configure(config: pytest.Config) -> None:
    """A list for the lines at the end."""
    config.stash[_REPORTS] = []


def pytest_collect_file(file_path: Path, parent: pytest.Collector) -> pytest.Collector | None:
    """A .ptx file is a collector where that is asked for."""
    config = parent.config
    if file_path.suffix != ".ptx" or not (config.getoption("gpuvcc") or config.getini("gpuvcc")):
        return None
    return PtxFile.from_parent(parent, path=file_path)


class PtxFile(pytest.File):
    """A file of PTX."""

    def collect(self) -> Iterable[pytest.Item]:
        """One test for each answer of the program."""
        launches = self.config.getoption("gpuvcc_launches") or self.config.getini("gpuvcc_launches") or None
        try:
            results = verify(self.path, launches=launches, timeout=int(self.config.getini("gpuvcc_timeout")))
        except GpuvccError as error:
            raise self.CollectError(str(error)) from error
        names: set[str] = set()
        for report in results:
            # A kernel may have several launches.
            name = report.name if report.name not in names else f"{report.name}[{report.launch}]"
            names.add(name)
            yield KernelItem.from_parent(self, name=name, report=report)


class KernelItem(pytest.Item):
    """A kernel in a launch."""

    def __init__(self, *, report: Report, **arguments: Any) -> None:
        super().__init__(**arguments)
        self.report = report

    def runtest(self) -> None:
        """The answer is there; says whether it passes."""
        _judge(self.config, [self.report], _allowed(self.config))

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], style: Any = None) -> Any:
        """What is wrong with the kernel, without a trace of this plugin."""
        if isinstance(excinfo.value, NotVerified):
            return str(excinfo.value)
        return super().repr_failure(excinfo, style)

    def reportinfo(self) -> tuple[Path, int | None, str]:
        """Where the first finding is in the PTX, from 0."""
        places = [access.ptx_line for finding in self.report.findings for access in finding.accesses]
        return self.path, places[0] - 1 if places else None, self.name


class Checker:
    """What the fixture ``gpuvcc_check`` is."""

    def __init__(self, config: pytest.Config) -> None:
        self._config = config

    def __call__(self, source: Source, *, allow: Collection[str] | None = None, **options: Any) -> Results:
        """``gpuvcc.verify``, which fails the test if a verdict is not allowed."""
        results = verify(source, **options)
        self.judge(results, allow=allow)
        return results

    def judge(self, answers: Results | Iterable[Report], *, allow: Collection[str] | None = None) -> None:
        """Lists answers at the end, and fails the test if one is not allowed; also for those of the hooks."""
        __tracebackhide__ = True
        _judge(self._config, list(answers), _allowed(self._config) if allow is None else allow)


@pytest.fixture
def gpuvcc_check(pytestconfig: pytest.Config) -> Checker:
    """Verifies kernels: ``gpuvcc_check("kernels.ptx", block=256)``."""
    return Checker(pytestconfig)


def _allowed(config: pytest.Config) -> list[str]:
    given: str | None = config.getoption("gpuvcc_allow")
    return given.split(",") if given else list(config.getini("gpuvcc_allow"))


def _judge(config: pytest.Config, reports: list[Report], allow: Collection[str]) -> None:
    __tracebackhide__ = True
    config.stash[_REPORTS] += reports
    refused = [report for report in reports if report.verdict not in allow]
    if not refused:
        return
    findings = [finding for report in refused for finding in report.findings]
    if findings and all(finding.known is not None for finding in findings):
        pytest.xfail("; ".join(dict.fromkeys(str(finding.known) for finding in findings)))
    raise NotVerified(refused)


def _summary(reports: Iterable[Report]) -> Iterator[str]:
    for report in reports:
        yield report.line
        yield from (f"  holds when {condition}" for condition in report.conditions)


def pytest_terminal_summary(terminalreporter: Any, exitstatus: int, config: pytest.Config) -> None:
    """One line for each kernel."""
    reports = config.stash.get(_REPORTS, [])
    if reports:
        terminalreporter.section("gpuvcc")
        for line in _summary(reports):
            terminalreporter.write_line(line)
