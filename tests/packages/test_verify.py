"""``gpuvcc.verify``: typed answers, all options, errors."""

from __future__ import annotations

import dataclasses
import json
import subprocess
import typing
from pathlib import Path

import gpuvcc
import pytest
from gpuvcc import reports


def test_verified(kernels: Path) -> None:
    results = gpuvcc.verify(kernels / "saxpy.ptx", block=256, grid=64)
    report = results["saxpy"]
    assert results.verified
    assert report.verified
    assert report.launch == gpuvcc.Launch((256, 1, 1), (64, 1, 1))
    assert report.line == f"{kernels / 'saxpy.ptx'}: saxpy: verified, block 256, grid 64"
    assert report.checked.accesses == 3


def test_race(kernels: Path) -> None:
    results = gpuvcc.verify(kernels / "reduce_sequential_broken.ptx", block=128, grid=64)
    (finding,) = results["reduce_sequential"].findings
    assert not results.verified
    assert (finding.code, finding.kind, finding.file, finding.line) == (
        "race",
        "read-write",
        "reduce_sequential_broken.cu",
        13,
    )
    read, write = finding.accesses
    assert (read.op, read.thread, write.op, write.thread) == ("read", (0, 0, 0), "write", (64, 0, 0))
    assert isinstance(finding.interleaving[-1], gpuvcc.Step)
    assert finding.interleaving[-1].at_fault
    assert "read-write on `s`" in str(results)


def test_every_field_of_the_json_is_there(kernels: Path) -> None:
    """The classes and the JSON name the same: what the program adds is added here, too."""
    file = str(kernels / "reduce_sequential_broken.ptx")
    command = [gpuvcc.program(), file, "--block", "128", "--grid", "64", "--format", "json"]
    printed = json.loads(subprocess.run(command, capture_output=True, text=True, check=False).stdout)
    results = gpuvcc.verify(file, block=128, grid=64)

    def compare(value: object, json_value: object, where: str) -> None:
        if isinstance(json_value, dict) and not isinstance(value, dict):
            for name, one in json_value.items():
                attribute = "from_" if name == "from" else name
                assert hasattr(value, attribute), f"{where}.{name}"
                if name != "time_ms":
                    compare(getattr(value, attribute), one, f"{where}.{name}")
        elif isinstance(json_value, list):
            assert isinstance(value, tuple)
            assert len(value) == len(json_value)
            for index, (one, json_one) in enumerate(zip(value, json_value, strict=True)):
                compare(one, json_one, f"{where}[{index}]")
        else:
            assert value == json_value, where

    compare(results, printed, "results")


#: Objects of the schema that are no classes here, and why.
LEFT_OUT = {
    "shard": "as it stands, for gpuvcc merge",
    "trace": "lines of programs in the IVL",
    "launch": "a class of its own",
}


def test_the_classes_are_those_of_the_schema() -> None:
    """Each property of the published schema has a field."""
    schema = json.loads((Path(__file__).parents[2] / "docs" / "report.schema.json").read_text())
    compared = set()

    def compare(kind: type, declared: dict[str, object]) -> None:
        fields = reports._fields(kind)
        compared.add(kind)
        for name, value in declared["properties"].items():
            if name in LEFT_OUT:
                continue
            assert name in fields, f"{kind.__name__}.{name}"
            while "items" in value:
                value = value["items"]
            if "$ref" in value:
                value = schema["$defs"][value["$ref"].rsplit("/", 1)[1]]
            inner = [one for one in flat(fields[name][1]) if dataclasses.is_dataclass(one)]
            if "properties" in value and inner:
                compare(inner[0], value)

    def flat(hint: object) -> list[object]:
        arguments = typing.get_args(hint)
        return [hint] if not arguments else [one for argument in arguments for one in flat(argument)]

    compare(gpuvcc.Results, schema)
    assert {gpuvcc.Report, gpuvcc.Finding, gpuvcc.Redundant, gpuvcc.LoopInvariants, gpuvcc.Invariant} <= compared


def test_what_is_asked_for_is_told(kernels: Path) -> None:
    file = kernels / "reduce_sequential.ptx"
    (report,) = gpuvcc.verify(file, block=128, grid=64, invariants=True, redundant=True, stats=True)
    (loop,) = report.invariants
    assert (loop.line, gpuvcc.Invariant("equality", "r9$1 == r9$2") in loop.invariants) == (13, True)
    assert {barrier.answer for barrier in report.redundant} == {"is-needed"}
    assert "infer" in {stage.stage for stage in report.stats}


def test_text_instead_of_a_file(kernels: Path) -> None:
    results = gpuvcc.verify((kernels / "saxpy.ptx").read_text(), block=[256], grid="*", params={0: 5})
    (report,) = results
    assert report.file == "<stdin>"
    assert report.launch == gpuvcc.Launch((256, 1, 1), (None, None, None))
    assert any("saxpy_param_0" in assumption or "param" in assumption for assumption in report.assumptions)


def test_launches(kernels: Path) -> None:
    launches = [{"kernel": "saxpy", "block": [size], "grid": [8]} for size in (32, 64)]
    results = gpuvcc.verify(kernels / "saxpy.ptx", launches=launches)
    assert [report.launch.block[0] for report in results] == [32, 64]
    assert all(report.launched is not None and report.launched.from_ for report in results)


@pytest.mark.parametrize(
    "option",
    [
        {"any_values": True},
        {"allow_same_value": True},
        {"volatile_races": True},
        {"may_alias": True},
        {"exited_threads_ok": True},
        {"unknown_functions_arbitrary": True},
        {"check_bounds": True},
        {"max_threads": 100000, "timeout": 30, "memory": 2000, "jobs": 1, "entry": "saxpy"},
    ],
)
def test_options_are_those_of_the_program(kernels: Path, option: dict[str, object]) -> None:
    assert len(gpuvcc.verify(kernels / "saxpy.ptx", block=256, grid=64, **option)) == 1  # type: ignore[arg-type]


def test_cache(kernels: Path, tmp_path: Path) -> None:
    """The second answer is the first one, with its time."""
    answers = [gpuvcc.verify(kernels / "saxpy.ptx", block=256, cache=tmp_path / "answers") for _ in range(2)]
    assert answers[0] == answers[1]
    assert len([file for file in tmp_path.rglob("*") if file.is_file()]) == 1


def test_errors(kernels: Path, tmp_path: Path) -> None:
    with pytest.raises(gpuvcc.UsageError, match="neither a size"):
        gpuvcc.verify(kernels / "saxpy.ptx", block=0)
    with pytest.raises(gpuvcc.InputErrors, match=r"cannot read .*no_such\.ptx"):
        gpuvcc.verify(tmp_path / "no_such.ptx")
    with pytest.raises(gpuvcc.InputErrors, match=r"<stdin>:4") as caught:
        gpuvcc.verify(".version 8.0\n.target sm_70\n.address_size 64\n).frobnicate")
    assert caught.value.results.errors[0].line == 4


def test_a_program_that_is_not_there(monkeypatch: pytest.MonkeyPatch, kernels: Path) -> None:
    monkeypatch.setenv("GPUVCC_PROGRAM", "/nowhere/gpuvcc")
    with pytest.raises(gpuvcc.ProgramNotFound, match="GPUVCC_PROGRAM"):
        gpuvcc.verify(kernels / "saxpy.ptx")
