"""What the program answers, as objects: the fields of its JSON, and nothing that it does not say.

The book of gpuvcc has the JSON, page "The JSON report". Fields that a newer program adds are left out.
"""

from __future__ import annotations

import dataclasses
import functools
import types
import typing
from collections.abc import Iterator, Mapping
from typing import Any, Literal, TypeVar

T = TypeVar("T")

#: One size for each axis; ``None`` is any.
Sizes = tuple[int | None, int | None, int | None]
Point = tuple[int, int, int]

Verdict = Literal[
    "verified",
    "verified-when",
    "race",
    "divergence",
    "deadlock",
    "barrier-error",
    "assertion",
    "possible-race",
    "possible-divergence",
    "possible-deadlock",
    "possible-barrier-error",
    "possible-assertion",
    "unknown",
    "unsupported",
]


def sizes_text(sizes: Sizes) -> str:
    """As the command line writes them: axes of size 1 are left out at the end, a lone * is any size of all."""
    if sizes == (None, None, None):
        return "*"
    texts = ["*" if size is None else str(size) for size in sizes]
    while len(texts) > 1 and texts[-1] == "1":
        texts.pop()
    return ",".join(texts)


@dataclasses.dataclass(frozen=True)
class Launch:
    """Sizes of a launch."""

    block: Sizes
    grid: Sizes

    def __str__(self) -> str:
        return f"block {sizes_text(self.block)}, grid {sizes_text(self.grid)}"


@dataclasses.dataclass(frozen=True)
class Launched:
    """A launch that a file has, and the file."""

    from_: str = dataclasses.field(metadata={"name": "from"})
    params: dict[str, int] = dataclasses.field(default_factory=dict)


@dataclasses.dataclass(frozen=True)
class Place:
    """A place in the source, where the PTX tells it, and in the PTX. Lines and columns count from 1."""

    ptx_line: int
    ptx: str
    file: str | None = None
    line: int | None = None
    column: int | None = None

    def __str__(self) -> str:
        return f"PTX line {self.ptx_line}" if self.line is None else f"{self.file}:{self.line}"


@dataclasses.dataclass(frozen=True)
class Access(Place):
    """One of the two accesses of a race."""

    op: str = ""
    bytes: int = 0
    thread: Point = (0, 0, 0)
    block: Point = (0, 0, 0)

    def __str__(self) -> str:
        thread, block = (",".join(map(str, point)) for point in (self.thread, self.block))
        return f"{Place.__str__(self)}: thread ({thread}) of block ({block}): {self.op} of {self.bytes} bytes"


@dataclasses.dataclass(frozen=True)
class Step(Access):
    """A step of the execution that has the defect."""

    array: str | None = None
    offset: int | None = None
    at_fault: bool = False


@dataclasses.dataclass(frozen=True)
class Wait(Place):
    """Threads that wait for ever, and for whom."""

    thread: Point = (0, 0, 0)
    block: Point = (0, 0, 0)
    object: str = ""
    generation: int | None = None
    text: str = ""


@dataclasses.dataclass(frozen=True)
class Related(Place):
    """Another place that a finding is about."""

    what: str = ""


@dataclasses.dataclass(frozen=True)
class Finding:
    """A defect, or where the proof failed."""

    code: str
    kind: str
    file: str
    confirmed: bool
    message: str
    line: int | None = None
    array: str | None = None
    space: str | None = None
    offset: int | None = None
    accesses: tuple[Access, ...] = ()
    barrier: Place | None = None
    params: dict[str, int] = dataclasses.field(default_factory=dict)
    launch: Launch | None = None
    replay: str | None = None
    interleaving: tuple[Step, ...] = ()
    waits: tuple[Wait, ...] = ()
    cycle: bool = False
    mixing: dict[str, int | None] | None = None
    related: tuple[Related, ...] = ()
    trace: tuple[dict[str, Any], ...] = ()
    values: dict[str, str] = dataclasses.field(default_factory=dict)
    chosen: tuple[str, ...] = ()
    similar: int = 0
    same_value: bool = False
    help: str | None = None
    fingerprint: str | None = None
    known: str | None = None

    def __str__(self) -> str:
        place = self.file if self.line is None else f"{self.file}:{self.line}"
        on = f" on `{self.array}`" if self.array else ""
        lines = [f"{place}: {self.code}: {self.kind}{on}", *(f"  {access}" for access in self.accesses)]
        if self.help:
            lines.append(f"  help: {self.help}")
        return "\n".join(lines)


@dataclasses.dataclass(frozen=True)
class Reason:
    """Why there is no proof and no defect."""

    code: str
    message: str
    file: str | None = None
    line: int | None = None
    ptx_line: int | None = None

    def __str__(self) -> str:
        if self.line is not None:
            return f"{self.file}:{self.line}: {self.code}: {self.message}"
        line = "" if self.ptx_line is None else f"PTX line {self.ptx_line}: "
        return f"{line}{self.code}: {self.message}"


@dataclasses.dataclass(frozen=True)
class Checked:
    """How much was checked."""

    accesses: int = 0
    pairs_same_block: int = 0
    pairs_different_blocks: int = 0
    barriers: int = 0
    loops: int = 0
    assertions: int = 0
    rules: int = 0


@dataclasses.dataclass(frozen=True)
class Redundant(Place):
    """With ``redundant=True``: a barrier or fence, and whether the kernel can do without it."""

    answer: Literal["can-go", "is-needed", "not-claimed"] = "not-claimed"
    reason: str | None = None
    claim: str | None = None
    together: bool = False
    executions: int = 0
    not_replayed: str | None = None


@dataclasses.dataclass(frozen=True)
class Execution:
    """How much an emulation executed."""

    threads: int
    instructions: int


@dataclasses.dataclass(frozen=True)
class Exact:
    """What was executed for a proof by one execution."""

    instructions: int
    generations: int


@dataclasses.dataclass(frozen=True)
class Stage:
    """With ``stats=True``: what a stage cost. ``time_us`` in microseconds; effort is about nanoseconds."""

    stage: str
    time_us: int
    effort: int
    queries: int
    contexts: int
    candidates: int


@dataclasses.dataclass(frozen=True)
class Invariant:
    """What holds whenever a thread is at the head of a loop: an expression of the IVL."""

    family: str
    text: str


@dataclasses.dataclass(frozen=True)
class LoopInvariants:
    """With ``invariants=True``: a loop, and what was inferred of it."""

    invariants: tuple[Invariant, ...]
    file: str | None = None
    line: int | None = None
    column: int | None = None
    ptx_line: int | None = None
    ptx: str = ""


@dataclasses.dataclass(frozen=True)
class Report:
    """The answer for one kernel in one launch."""

    file: str
    entry: str
    verdict: Verdict
    confirmed: bool
    launch: Launch
    time_ms: int
    demangled: str | None = None
    target: str | None = None
    launched: Launched | None = None
    assumptions: tuple[str, ...] = ()
    conditions: tuple[str, ...] = ()
    checked: Checked = Checked()
    findings: tuple[Finding, ...] = ()
    outside: tuple[Finding, ...] = ()
    reasons: tuple[Reason, ...] = ()
    redundant: tuple[Redundant, ...] = ()
    known: str | None = None
    next: str | None = None
    invariants: tuple[LoopInvariants, ...] = ()
    candidates: dict[str, int] = dataclasses.field(default_factory=dict)
    inferred: dict[str, bool] = dataclasses.field(default_factory=dict)
    execution: Execution | None = None
    exact: Exact | None = None
    stats: tuple[Stage, ...] = ()

    @property
    def name(self) -> str:
        """The name of the kernel in its source."""
        return self.demangled or self.entry

    @property
    def verified(self) -> bool:
        """Proved for this launch without conditions."""
        return self.verdict == "verified"

    @property
    def line(self) -> str:
        """One line for the kernel."""
        return f"{self.file}: {self.name}: {self.verdict}, {self.launch}"

    def __str__(self) -> str:
        lines = [self.line]
        lines += [f"  holds when {condition}" for condition in self.conditions]
        for part in (*self.findings, *self.reasons):
            lines += [f"  {line}" for line in str(part).splitlines()]
        return "\n".join(lines)


@dataclasses.dataclass(frozen=True)
class InputError:
    """Something wrong with an input."""

    file: str
    code: str
    message: str
    entry: str | None = None
    line: int | None = None
    column: int | None = None
    notes: tuple[str, ...] = ()

    def __str__(self) -> str:
        place = ":".join(str(part) for part in (self.file, self.line, self.column) if part is not None)
        return f"{place}: {self.code}: {self.message}"


@dataclasses.dataclass(frozen=True)
class Unsupported:
    """A construct that has no model, and in how many kernels and places it stands."""

    code: str
    cause: str
    names: tuple[str, ...] = ()
    kernels: int = 0
    alone: int = 0
    places: int = 0


@dataclasses.dataclass(frozen=True)
class Results:
    """All answers of a run."""

    tool: str
    version: str
    kernels: tuple[Report, ...] = ()
    unsupported: tuple[Unsupported, ...] = ()
    errors: tuple[InputError, ...] = ()
    #: The version of the JSON, the exit code of the run, and which part of a run it is (``--shard``).
    schema: int = 1
    exit: int | None = None
    shard: dict[str, Any] | None = None

    @property
    def verified(self) -> bool:
        """All kernels are proved without conditions, and there is at least one."""
        return bool(self.kernels) and not self.errors and all(report.verified for report in self.kernels)

    def __iter__(self) -> Iterator[Report]:
        return iter(self.kernels)

    def __len__(self) -> int:
        return len(self.kernels)

    def __getitem__(self, entry: str) -> Report:
        """The report of a kernel, by its name in the source or in the PTX; the first of several launches."""
        for report in self.kernels:
            if entry in (report.entry, report.name):
                return report
        raise KeyError(entry)

    def __str__(self) -> str:
        return "\n".join(str(part) for part in (*self.kernels, *self.errors))


def from_json(kind: type[T], value: Mapping[str, Any]) -> T:
    """An object of a dataclass from an object of the JSON."""
    return typing.cast(T, _converted(kind, value))


@functools.cache
def _fields(kind: type[Any]) -> dict[str, tuple[str, Any]]:
    hints = typing.get_type_hints(kind)
    return {
        field.metadata.get("name", field.name): (field.name, hints[field.name]) for field in dataclasses.fields(kind)
    }


def _converted(kind: Any, value: Any) -> Any:
    if dataclasses.is_dataclass(kind) and isinstance(kind, type):
        known = _fields(kind)
        return kind(**{known[key][0]: _converted(known[key][1], one) for key, one in value.items() if key in known})
    origin, arguments = typing.get_origin(kind), typing.get_args(kind)
    if origin in (typing.Union, types.UnionType):
        return None if value is None else _converted(arguments[0], value)
    if origin is tuple:
        repeated = arguments[:1] * len(value) if arguments[-1] is Ellipsis else arguments
        return tuple(_converted(one, part) for one, part in zip(repeated, value, strict=True))
    return value
