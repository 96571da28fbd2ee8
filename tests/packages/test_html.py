"""The HTML report in Debian's Chromium: pages that the program makes, held against the data that is in them."""

from __future__ import annotations

import base64
import json
import re
import shutil
import subprocess
import unicodedata
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from axe_playwright_python.sync_playwright import Axe
from gpuvcc.program import program
from playwright.sync_api import Browser, Locator, Page, expect, sync_playwright
from pypdf import PdfReader

KERNELS = ["saxpy", "reduce_sequential_broken", "barrier_arms_broken", "reduce_sequential", "transpose_broken"]
LAUNCH = ["--block", "64", "--grid", "2"]
DATA = re.compile(r'(<script type="application/json" id="data">)(.*?)(</script>)', re.DOTALL)


class Report:
    """A page, and what is in it."""

    def __init__(self, path: Path) -> None:
        self.path = path
        found = DATA.search(path.read_text())
        assert found, "the page has no data"
        self.data: dict[str, Any] = json.loads(found[2])
        self.kernels: list[dict[str, Any]] = self.data["kernels"]

    def number(self, file: str) -> int:
        return next(number for number, one in enumerate(self.kernels) if Path(one["file"]).stem == file)

    def detail(self, number: int) -> dict[str, Any]:
        return json.loads(zlib.decompress(base64.b64decode(self.kernels[number]["detail"])))

    def racing(self, number: int) -> list[int]:
        """The instructions of the accesses of the first finding."""
        lines = [access["ptx_line"] for access in self.kernels[number]["json"]["findings"][0]["accesses"]]
        instructions = self.detail(number)["instructions"]
        return [index for index, one in enumerate(instructions) if one["source"] == 0 and one["line"] in lines]

    def changed(self, path: Path, change: Callable[[dict[str, Any]], None]) -> Report:
        """The same page with other data."""
        data = json.loads(json.dumps(self.data))
        change(data)
        text = json.dumps(data).replace("<", "\\u003c")
        path.write_text(DATA.sub(lambda found: found[1] + text + found[3], self.path.read_text()))
        return Report(path)


def deflated(detail: dict[str, Any]) -> str:
    return base64.b64encode(zlib.compress(json.dumps(detail).encode())).decode()


@pytest.fixture(scope="module")
def report(kernels: Path, tmp_path_factory: pytest.TempPathFactory) -> Report:
    path = tmp_path_factory.mktemp("html") / "report.html"
    files = [kernels / f"{name}.ptx" for name in KERNELS]
    command = [program(), *files, *LAUNCH, "--format", "html", "-o", path]
    done = subprocess.run(command, cwd=kernels, capture_output=True, text=True, check=False)
    assert done.returncode == 1, done.stdout + done.stderr
    return Report(path)


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    chromium = shutil.which("chromium")
    assert chromium, "these tests need Debian's Chromium: apt-get install -y chromium"
    with sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=chromium)
        yield started
        started.close()


@contextmanager
def watched(browser: Browser, refused: str | None = None, **options: Any) -> Iterator[Page]:
    """A page of which nothing but its file may be asked for, and which may not complain.

    `refused` is what its policy may, and must, say that it refused.
    """
    options = {"viewport": {"width": 1400, "height": 900}, "color_scheme": "light", **options}
    context = browser.new_context(**options)
    context.set_default_timeout(10_000)
    page = context.new_page()
    requests: list[str] = []
    complaints: list[str] = []
    page.on("request", lambda request: requests.append(request.url.partition("#")[0]))
    page.on("console", lambda message: message.type in ("error", "warning") and complaints.append(message.text))
    page.on("pageerror", lambda error: complaints.append(str(error)))
    try:
        yield page
        # What is on its way comes before this does.
        page.evaluate("new Promise((done) => setTimeout(done, 50))")
        assert [one for one in complaints if not refused or refused not in one] == []
        assert bool(refused) == any(refused in one for one in complaints if refused)
        assert requests, "no page was opened"
        assert [url for url in requests if not url.startswith("file:///")] == []
        assert len(set(requests)) == 1, requests
    finally:
        context.close()


@pytest.fixture
def page(browser: Browser) -> Iterator[Page]:
    with watched(browser) as opened:
        yield opened


def visit(page: Page, report: Report, number: int | None = None, **at: object) -> int:
    """Opens a kernel, or that which the page itself chooses; answers which."""
    said = {} if number is None else {"kernel": number, **at}
    page.goto("about:blank")
    page.goto(f"{report.path.as_uri()}#{'&'.join(f'{name}={value}' for name, value in said.items())}")
    return ready(page, number)


def ready(page: Page, number: int | None = None) -> int:
    page.wait_for_selector("main[data-ready]" if number is None else f'main[data-ready="{number}"]')
    return int(page.locator("main").get_attribute("data-ready") or "")


def tab(page: Page, name: str) -> Locator:
    return page.locator(f"#tab-{name}")


def panel(page: Page, name: str) -> Locator:
    return page.locator(f"#panel-{name}")


def source(page: Page, detail: dict[str, Any], number: int) -> Locator:
    return page.locator(f'figure.source [role=listbox][aria-label$="{detail["sources"][number]["path"]}"]')


def marked(view: Locator) -> list[int]:
    """The numbers of the lines that are marked; to the eye and to a reader of the screen they are the same."""
    seen = [int(line.get_attribute("data-line") or "") for line in view.locator("li.marked").all()]
    assert seen == [int(one.get_attribute("data-line") or "") for one in view.locator("li[aria-selected=true]").all()]
    return seen


def of_stage(stage: dict[str, Any], chosen: set[int]) -> list[int]:
    return [number for number, line in enumerate(stage["lines"], 1) if chosen & set(line)]


def of_source(detail: dict[str, Any], number: int, chosen: set[int]) -> list[int]:
    lines = set()
    for index in chosen:
        one = detail["instructions"][index]
        lines |= {one["line"]} if one["source"] == number else set()
        lines |= {one["cuda"]["line"]} if one.get("cuda") and one["cuda"]["source"] == number else set()
    return sorted(lines)


# ------------------------------------------------------------------------------------------------------------- what is shown


def test_opens_the_worst_kernel(page: Page, report: Report) -> None:
    opened = visit(page, report)
    assert report.kernels[opened]["verdict"] in ("race", "divergence")
    assert report.kernels[opened]["name"] in page.title()
    expect(page.locator("h1")).to_have_text(report.kernels[opened]["name"])
    expect(page.locator("header.run")).to_contain_text(report.data["command"])
    entries = page.locator("#kernels a")
    assert entries.count() == len(KERNELS)
    for entry, kernel in zip(entries.all(), report.kernels, strict=True):
        # The verdict is a word, and beside it an icon.
        assert re.fullmatch(r"\S " + kernel["verdict"], entry.locator(".badge").inner_text())
        expect(entry).to_contain_text(kernel["name"])
    for verdict, count in report.data["counts"].items():
        expect(page.locator("#totals")).to_contain_text(re.compile(rf"{count} \S {verdict}"))


def test_finding_comes_first(page: Page, report: Report) -> None:
    number = report.number("reduce_sequential_broken")
    visit(page, report, number)
    finding = report.kernels[number]["json"]["findings"][0]
    card = page.locator("section.finding").first
    assert card.bounding_box()["y"] < page.locator("section.sources").bounding_box()["y"]  # type: ignore[index]
    expect(card.locator("h2")).to_contain_text(f"race on {finding['array']} (shared, byte offset {finding['offset']})")
    for access in finding["accesses"]:
        expect(card).to_contain_text(f"PTX {access['ptx_line']}: {access['ptx']}")
        expect(card).to_contain_text(f"({','.join(map(str, access['thread']))})")
    expect(card.locator(".command code")).to_have_text(finding["replay"])
    # The racing lines are marked in both sources, and the button leads to them.
    detail = report.detail(number)
    lines = {access["ptx_line"] for access in finding["accesses"]}
    ptx = source(page, detail, 0)
    assert {int(one.get_attribute("data-line") or "") for one in ptx.locator("li.defect").all()} == lines
    cuda = source(page, detail, 1)
    assert {int(one.get_attribute("data-line") or "") for one in cuda.locator("li.defect").all()} == {finding["line"]}
    card.get_by_role("button", name=f"PTX {finding['accesses'][1]['ptx_line']}").click()
    assert marked(ptx) == [finding["accesses"][1]["ptx_line"]]


def test_sources_stand_side_by_side(page: Page, report: Report) -> None:
    number = report.number("reduce_sequential_broken")
    visit(page, report, number)
    detail = report.detail(number)
    views = [source(page, detail, one) for one in (0, 1)]
    ptx, cuda = (view.bounding_box() for view in views)
    assert ptx and cuda and ptx["y"] == cuda["y"] and cuda["x"] + cuda["width"] < ptx["x"]
    for view, one in zip(views, detail["sources"], strict=True):
        texts = view.locator("li > code").all_text_contents()
        assert texts == one["text"].removesuffix("\n").split("\n")
        assert view.locator("li > .number").first.inner_text() == str(one["first_line"])


@pytest.mark.parametrize("name", KERNELS)
def test_each_tab_shows_its_stage(page: Page, report: Report, name: str) -> None:
    number = report.number(name)
    visit(page, report, number)
    detail = report.detail(number)
    stages = {stage["name"]: stage for stage in detail["stages"]}
    assert list(stages) == ["kernel", "order", "predicated", "twothread", "ivl", "passive", "vc"]
    for stage in stages.values():
        tab(page, stage["name"]).click()
        shown = panel(page, stage["name"])
        expect(page.locator("[role=tabpanel]:visible")).to_have_count(1)
        expect(shown).to_be_visible()
        expect(tab(page, stage["name"])).to_have_attribute("aria-selected", "true")
        expect(page.locator("[role=tab][aria-selected=true]")).to_have_count(1)
        expect(shown.locator(".about")).to_have_text(stage["about"])
        if "failed" in stage:
            expect(shown).to_contain_text(stage["failed"])
        else:
            assert shown.locator("li > code").all_text_contents() == stage["text"].removesuffix("\n").split("\n")
    tab(page, "report").click()
    assert panel(page, "report").locator("pre").text_content() == report.kernels[number]["text"]


def test_graph(page: Page, report: Report) -> None:
    number = report.number("reduce_sequential_broken")
    visit(page, report, number, tab="cfg")
    detail = report.detail(number)
    blocks = page.locator("#panel-cfg svg [data-block]")
    assert blocks.count() == len(detail["graph"]["blocks"])
    for block in blocks.all():
        of = detail["graph"]["blocks"][int(block.get_attribute("data-block") or "")]
        assert of["label"] in (block.get_attribute("aria-label") or "")
        assert ("loop head" in (block.get_attribute("aria-label") or "")) == of["loop_head"]
    full = max(range(blocks.count()), key=lambda one: len(detail["graph"]["blocks"][one]["instructions"]))
    chosen = detail["graph"]["blocks"][full]["instructions"]
    block = page.locator(f'#panel-cfg [data-block="{full}"]')
    block.focus()
    page.keyboard.press("Enter")
    expect(block).to_have_attribute("aria-pressed", "true")
    assert marked(source(page, detail, 0)) == of_source(detail, 0, set(chosen))


def test_invariants_with_family_and_fate(page: Page, report: Report) -> None:
    number = report.number("reduce_sequential")
    visit(page, report, number, tab="invariants")
    invariants = report.detail(number)["invariants"]
    assert any(one["fate"] == "kept" for one in invariants) and any(one["fate"] != "kept" for one in invariants)
    rows = page.locator("#panel-invariants tbody tr")
    assert rows.count() == len(invariants)
    for row, one in zip(rows.all()[:200], invariants, strict=False):
        cells = row.locator("td").all_text_contents()
        assert one["loop"] in cells[0] and cells[1] == one["family"] and cells[2] == one["text"]
        assert one["fate"] in cells[3] and ("used" in cells[3]) == bool(one.get("used"))
    page.locator("#panel-invariants select").select_option("kept")
    expect(rows.locator("visible=true")).to_have_count(sum(one["fate"] == "kept" for one in invariants))


def test_who_waits_where(page: Page, report: Report) -> None:
    number = report.number("barrier_arms_broken")
    visit(page, report, number, tab="barriers")
    barriers = report.detail(number)["barriers"]
    threads = barriers["threads"]
    letters = {}
    rows = page.locator("#panel-barriers .standing tbody tr")
    for index, at in enumerate(barriers["places"]):
        row = rows.nth(index)
        instruction = report.detail(number)["instructions"][at["instruction"]]
        expect(row).to_contain_text(f"waits at {instruction['text']} PTX {instruction['line']}")
        waiting = [one["name"] for one in threads if one.get("waits") == index]
        assert waiting, "a place at which nobody waits"
        for name in waiting[:6]:
            expect(row.locator("td").nth(1)).to_contain_text(name)
        letters[index] = row.locator(".letter").inner_text()
    assert len(set(letters.values())) == len(letters) >= 2
    # A picture of the block: the letter of each thread.
    cells = page.locator("#panel-barriers .warps td[title]")
    drawn = {cell.get_attribute("title"): cell.inner_text() for cell in cells.all()}
    assert len(drawn) == 64
    for one in threads:
        first, last = re.fullmatch(r"threads? (\d+)(?: to (\d+))?", one["name"]).groups()  # type: ignore[union-attr]
        for thread in range(int(first), int(last or first) + 1):
            assert drawn[f"thread {thread}"] == letters[one["waits"]]


# --------------------------------------------------------------------------------------------------------------- selection


def test_instruction_is_marked_in_every_stage(page: Page, report: Report) -> None:
    number = report.number("reduce_sequential_broken")
    visit(page, report, number)
    detail = report.detail(number)
    racing = report.racing(number)
    assert len(racing) == 2
    ptx = source(page, detail, 0)
    for chosen in [*racing, 0, len(detail["instructions"]) // 2]:
        line = detail["instructions"][chosen]["line"]
        ptx.locator(f'li[data-line="{line}"]').click()
        together = {
            index for index, one in enumerate(detail["instructions"]) if (one["source"], one["line"]) == (0, line)
        }
        assert f"instruction={','.join(map(str, sorted(together)))}&" in page.url + "&"
        for view in range(len(detail["sources"])):
            assert marked(source(page, detail, view)) == of_source(detail, view, together)
        for stage in detail["stages"]:
            expected = of_stage(stage, together)
            tab(page, stage["name"]).click()
            assert marked(panel(page, stage["name"])) == expected, stage["name"]
            count = tab(page, stage["name"]).locator(".count").inner_text().strip()
            assert count == (str(len(expected)) if expected else "")
            # An access that races is in each program and in the formula.
            assert expected or chosen not in racing or stage["name"] == "order", stage["name"]
            if expected:
                assert visible_in(panel(page, stage["name"]).locator("[role=listbox]"), expected[0])
        blocks = {
            str(one) for one, block in enumerate(detail["graph"]["blocks"]) if together & set(block["instructions"])
        }
        tab(page, "cfg").click()
        assert {one.get_attribute("data-block") for one in page.locator("#panel-cfg .marked").all()} == blocks


def visible_in(view: Locator, line: int) -> bool:
    """Whether a line of a text lies in the part that is scrolled to."""
    return bool(
        view.evaluate(
            """(view, line) => {
                const [outer, inner] = [view, view.querySelector(`[data-line="${line}"]`)].map((one) => one.getBoundingClientRect());
                return inner.top >= outer.top - 1 && inner.bottom <= outer.bottom + 1;
            }""",
            line,
        )
    )


def test_line_of_a_stage_leads_back(page: Page, report: Report) -> None:
    number = report.number("reduce_sequential_broken")
    detail = report.detail(number)
    for stage in detail["stages"]:
        linked = [index for index, line in enumerate(stage.get("lines", [])) if line]
        if not linked:
            continue
        visit(page, report, number, tab=stage["name"])
        index = linked[len(linked) // 2]
        panel(page, stage["name"]).locator("li").nth(index).click()
        for view in range(len(detail["sources"])):
            assert marked(source(page, detail, view)) == of_source(detail, view, set(stage["lines"][index]))
    page.get_by_role("button", name="Clear").click()
    expect(page.locator("main .marked")).to_have_count(0)


def test_address_keeps_what_is_selected(page: Page, report: Report, browser: Browser) -> None:
    number = report.number("reduce_sequential_broken")
    visit(page, report, number)
    detail = report.detail(number)
    chosen = report.racing(number)[1]
    tab(page, "twothread").click()
    source(page, detail, 0).locator(f'li[data-line="{detail["instructions"][chosen]["line"]}"]').click()
    with watched(browser) as other:
        other.goto(page.url)
        assert ready(other) == number
        expect(tab(other, "twothread")).to_have_attribute("aria-selected", "true")
        assert marked(source(other, detail, 0)) == [detail["instructions"][chosen]["line"]]
        assert other.url == page.url


@pytest.mark.parametrize(
    "address",
    ["kernel=99", "kernel=-1&tab=vc", "kernel=0&tab=nothing&instruction=99999,x&step=5", "%E0%A4%A", "kernel-name"],
)
def test_address_of_nothing(page: Page, report: Report, address: str) -> None:
    page.goto(f"{report.path.as_uri()}#{address}")
    ready(page)
    expect(page.locator("[role=tabpanel]:visible")).to_have_count(1)


# ------------------------------------------------------------------------------------------------------------------- steps


def after(replay: dict[str, Any], thread: int, at: int) -> dict[str, str]:
    """What the registers of a thread hold after a step."""
    known: dict[str, str] = dict(replay["threads"][thread].get("registers", {}))
    for step in replay["steps"][: at + 1]:
        if step["thread"] == thread:
            known |= step.get("registers", {})
    return known


def registers(page: Page, thread: int) -> dict[str, str]:
    found = {}
    for row in page.locator(f"table.registers.thread-{thread} tbody tr").all():
        name = row.locator("th")
        if name.count():
            found[name.inner_text().removeprefix("●").strip()] = (
                row.locator("td").inner_text().split(" was ")[0].strip()
            )
    return found


@pytest.mark.parametrize("name", ["reduce_sequential_broken", "transpose_broken"])
def test_steps_lead_to_the_defect(page: Page, report: Report, name: str) -> None:
    number = report.number(name)
    visit(page, report, number, tab="steps")
    replay = report.detail(number)["replay"]
    steps = replay["steps"]
    defects = [index for index, step in enumerate(steps) if step.get("defect")]
    assert {steps[index]["thread"] for index in defects} == {0, 1}
    trace = page.get_by_role("listbox", name="Steps in their order")
    trace.focus()
    page.keyboard.press("Home")
    detail = report.detail(number)
    for index in range(defects[-1] + 1):
        if index:
            page.keyboard.press("ArrowRight")
        step = steps[index]
        status = page.locator("#panel-steps .now")
        expect(status).to_contain_text(f"Step {index + 1} of {len(steps)}: {replay['threads'][step['thread']]['name']}")
        expect(status).to_contain_text(detail["instructions"][step["instruction"]]["text"])
        if index in (0, len(steps) // 2, *defects):
            for thread in (0, 1):
                assert registers(page, thread) == after(replay, thread, index)
            changed = {
                one.inner_text().removeprefix("●").strip() for one in page.locator(".registers .changed th").all()
            }
            assert changed == set(step.get("registers", {}))
            line = detail["instructions"][step["instruction"]]["line"]
            assert line in marked(source(page, detail, 0))
            assert f"step={index}" in page.url
    # Both racing accesses, each with its bytes, and the registers that hold the addresses.
    finding = report.kernels[number]["json"]["findings"][0]
    summary = page.get_by_role("list", name="The steps that make the defect")
    bytes_ = finding["offset"]
    for index in defects:
        note = steps[index]["note"]
        first, last = (int(one) for one in re.search(r"bytes? (\d+)(?: to (\d+))?", note).groups("-1"))  # type: ignore[union-attr]
        assert first <= bytes_ <= max(first, last), note
        assert re.search(rf"(\b|\d){finding['array']}\b", note), note
        expect(summary).to_contain_text(note)
        expect(trace.locator("li").nth(index)).to_contain_text(note)
        text = detail["instructions"][steps[index]["instruction"]]["text"]
        address = re.search(r"\[(%\w+)", text)
        assert address and address[1] in registers(page, steps[index]["thread"])
    page.keyboard.press("ArrowLeft")
    expect(page.locator("#panel-steps .now")).to_contain_text(f"Step {defects[-1]} of")
    page.get_by_role("button", name="First step").click()
    expect(page.get_by_role("button", name="Step back")).to_be_disabled()
    page.get_by_role("button", name="Step forward").click()
    expect(page.locator("#panel-steps .now")).to_contain_text("Step 2 of")
    page.get_by_role("slider", name="Step").focus()
    page.keyboard.press("End")
    expect(page.locator("#panel-steps .now")).to_contain_text(f"Step {len(steps)} of")
    expect(page.get_by_role("button", name="Step forward")).to_be_disabled()


# ---------------------------------------------------------------------------------------------------------------- keyboard


def test_keyboard_alone(page: Page, report: Report) -> None:
    number = report.number("reduce_sequential_broken")
    visit(page, report, number)
    detail = report.detail(number)
    page.keyboard.press("Tab")
    expect(page.locator(".skip")).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.locator("h1")).to_be_focused()
    seen = walk(page, until="[role=tab]")
    assert {"button", "listbox"} <= {one["role"] for one in seen}
    first = page.locator(":focus").get_attribute("id")
    names = [one.get_attribute("id") for one in page.locator("[role=tab]").all()]
    for name in [*names[1:], names[0]]:
        page.keyboard.press("ArrowRight")
        expect(page.locator(f"#{name}")).to_be_focused()
        expect(page.locator(f"#{name}")).to_have_attribute("aria-selected", "true")
        expect(page.locator(f"#{name}".replace("tab-", "panel-"))).to_be_visible()
    assert first == names[0]
    page.keyboard.press("End")
    expect(page.locator(f"#{names[-1]}")).to_be_focused()
    page.keyboard.press("Home")
    page.keyboard.press("ArrowLeft")
    expect(page.locator(f"#{names[-1]}")).to_be_focused()
    # A source: the arrows go from instruction to instruction.
    source(page, detail, 0).focus()
    page.keyboard.press("Home")
    lines = sorted({one["line"] for one in detail["instructions"] if one["source"] == 0})
    assert marked(source(page, detail, 0)) == lines[:1]
    page.keyboard.press("ArrowDown")
    assert marked(source(page, detail, 0)) == lines[1:2]
    current = page.locator(f"#{source(page, detail, 0).get_attribute('aria-activedescendant')}")
    expect(current).to_have_attribute("data-line", str(lines[1]))
    page.keyboard.press("Escape")
    expect(page.locator("main .marked")).to_have_count(0)
    # The list of kernels: one stop, then arrows.
    page.locator("#kernels a[aria-current]").focus()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    ready(page, number + 1)
    expect(page.locator("h1")).to_have_text(report.kernels[number + 1]["name"])


def walk(page: Page, until: str) -> list[dict[str, Any]]:
    """Presses Tab until something has the focus; all on the way can be seen to have it, and has a name."""
    seen = []
    for _ in range(200):
        page.keyboard.press("Tab")
        one = page.evaluate(
            """() => {
                const one = document.activeElement, style = getComputedStyle(one);
                return { tag: one.tagName, role: one.getAttribute("role") ?? one.tagName.toLowerCase(), outline: style.outlineStyle,
                         width: parseFloat(style.outlineWidth), stroke: parseFloat(style.strokeWidth) };
            }"""
        )
        assert one["tag"] != "BODY", "the focus left the page"
        assert one["outline"] != "none" and one["width"] >= 1, one
        seen.append(one)
        if page.locator(":focus").evaluate("(one, until) => one.matches(until)", until):
            return seen
    raise AssertionError(f"Tab never comes to {until}")


def test_every_stop_can_be_seen(page: Page, report: Report) -> None:
    """From the top to the end of the page, in each tab that has controls of its own."""
    number = report.number("reduce_sequential_broken")
    for name in ("steps", "twothread", "invariants"):
        visit(page, report, number, tab=name)
        walk(page, until=f"#panel-{name} *")


@pytest.mark.parametrize(("scheme", "width"), [("light", 1400), ("dark", 700)])
def test_accessible(browser: Browser, report: Report, scheme: str, width: int) -> None:
    """Names, roles, and contrast, as axe sees them, in each tab."""
    with watched(browser, color_scheme=scheme, viewport={"width": width, "height": 900}) as page:
        for name in ("reduce_sequential_broken", "barrier_arms_broken"):
            visit(page, report, report.number(name))
            for one in page.locator("[role=tab]").all():
                one.click()
                page.wait_for_timeout(150)
                found = Axe().run(page).response["violations"]
                assert [(one["id"], [node["html"][:200] for node in one["nodes"][:3]]) for one in found] == []


def test_light_and_dark_differ(browser: Browser, report: Report) -> None:
    def colours(scheme: str) -> list[str]:
        with watched(browser, color_scheme=scheme) as page:
            visit(page, report, report.number("reduce_sequential_broken"), tab="cfg")
            shape = "#panel-cfg [data-block] :is(rect, polygon, path, ellipse)"
            places = [
                ("html", "backgroundColor"),
                ("h1", "color"),
                (".code .marked", "backgroundColor"),
                (shape, "fill"),
            ]
            page.wait_for_timeout(200)
            return [page.locator(at).first.evaluate(f"(one) => getComputedStyle(one).{what}") for at, what in places]

    light, dark = colours("light"), colours("dark")
    assert all(one != other for one, other in zip(light, dark, strict=True)), (light, dark)
    brightness = [sum(map(int, re.findall(r"\d+", one)[:3])) for one in (light[0], light[1], dark[0], dark[1])]
    assert brightness[0] > brightness[1] and brightness[2] < brightness[3]


@pytest.mark.parametrize("width", [1400, 700, 400])
def test_no_part_sticks_out(browser: Browser, report: Report, width: int) -> None:
    with watched(browser, viewport={"width": width, "height": 900}) as page:
        for number in range(len(report.kernels)):
            visit(page, report, number)
            for one in page.locator("[role=tab]").all():
                one.click()
                assert page.evaluate("document.scrollingElement.scrollWidth") <= width, one.inner_text()


def test_paper_has_all_stages(page: Page, report: Report, tmp_path: Path) -> None:
    number = report.number("reduce_sequential_broken")
    visit(page, report, number)
    detail = report.detail(number)
    page.pdf(path=tmp_path / "report.pdf")
    texts = [one.extract_text() for one in PdfReader(tmp_path / "report.pdf").pages]
    # The font of the paper may have ligatures.
    text = "".join(unicodedata.normalize("NFKC", "".join(texts)).split())

    def holds(part: str) -> bool:
        return "".join(part.split()) in text

    assert holds(report.kernels[number]["name"]) and holds(report.kernels[number]["json"]["findings"][0]["replay"])
    last = -1
    for stage in detail["stages"]:
        assert holds(stage["title"] + stage["about"]), stage["name"]
        at = text.index("".join((stage["title"] + stage["about"]).split()))
        assert at > last, "the stages come in their order"
        last = at
        for line in (
            stage.get("text", stage.get("failed", ""))
            .strip()
            .split("\n")[:: max(1, len(stage.get("lines", "1")) // 20)]
        ):
            assert holds(line), (stage["name"], line)
    for block in detail["graph"]["blocks"]:
        assert holds(block["label"])
    for step in detail["replay"]["steps"]:
        assert holds(step.get("note", ""))
    assert not holds("Step back") and not holds("Next marked line")


# --------------------------------------------------------------------------------------------------- many, and other, kernels


def test_three_hundred_kernels(page: Page, report: Report, tmp_path: Path) -> None:
    """All that is not opened stays as it is: here it could not be inflated."""

    def many(data: dict[str, Any]) -> None:
        some = data["kernels"]
        data["kernels"] = [
            {
                **some[one % len(some)],
                "name": f"kernel_{one}",
                "detail": some[one % len(some)]["detail"] if one == 299 else "AAAA",
            }
            for one in range(300)
        ]

    full = report.changed(tmp_path / "many.html", many)
    visit(page, full, 299)
    expect(page.locator("#kernels a")).to_have_count(300)
    expect(page.locator("#shown")).to_have_text("300 kernels")
    names = page.locator("#filter")
    names.fill("kernel_29")
    expect(page.locator("#kernels a:visible")).to_have_count(11)
    expect(page.locator("#shown")).to_have_text("11 of 300 kernels")
    names.fill("KERNEL_ saxpy")
    expect(page.locator("#kernels a:visible")).to_have_count(sum("saxpy" in one["file"] for one in full.kernels))
    names.fill("")
    for verdict in dict.fromkeys(one["verdict"] for one in full.kernels):
        button = page.locator("#verdicts button", has_text=re.compile(rf"^\S {verdict} \d+$"))
        button.click()
        expect(button).to_have_attribute("aria-pressed", "false")
        expect(page.locator("#kernels a:visible")).to_have_count(sum(one["verdict"] != verdict for one in full.kernels))
        button.click()
    # One whose detail is damaged still shows its report.
    page.locator("#kernels a").first.click()
    expect(page.get_by_role("alert")).to_contain_text("cannot be shown")
    expect(page.locator("main pre")).to_have_text(full.kernels[0]["text"])


def test_only_errors(page: Page, report: Report, tmp_path: Path) -> None:
    def none(data: dict[str, Any]) -> None:
        data |= {"kernels": [], "counts": {}, "errors": ["error[syntax]: <b>expected</b> `;`"]}

    page.goto(report.changed(tmp_path / "none.html", none).path.as_uri())
    expect(page.locator("h1")).to_have_text("No kernel in this run")
    expect(page.locator(".errors pre")).to_have_text("error[syntax]: <b>expected</b> `;`")


def test_least_data(page: Page, report: Report, tmp_path: Path) -> None:
    """A kernel of which hardly anything is there, and stages that failed."""

    def least(data: dict[str, Any]) -> None:
        stages = [{"name": name, "title": name, "about": "", "failed": f"no {name}"} for name in ("kernel", "vc")]
        detail = {"sources": [], "instructions": [], "stages": stages, "invariants": []}
        data["kernels"] = [{**data["kernels"][0], "detail": deflated(detail)}]

    visit(page, report.changed(tmp_path / "least.html", least), 0)
    for name in ("kernel", "vc"):
        tab(page, name).click()
        expect(panel(page, name)).to_contain_text(f"no {name}")


def test_texts_stay_texts(browser: Browser, report: Report, tmp_path: Path) -> None:
    """Names, lines and drawings that would be elements, handlers or scripts."""
    # The drawing is read as a document of its own, where the policy refuses its handlers before the page drops them.
    with watched(browser, refused="Executing inline event handler violates") as page:
        texts_stay_texts(page, report, tmp_path)


def texts_stay_texts(page: Page, report: Report, tmp_path: Path) -> None:
    evil = '</script><img src=x onerror="document.title=\'run\'"><script>document.title="run"</script>'
    drawn = '<rect width="9" height="9" onclick="document.title=\'run\'"/><script>document.title="run"</script>'
    number = report.number("reduce_sequential_broken")

    def change(data: dict[str, Any]) -> None:
        kernel = data["kernels"][number]
        detail = report.detail(number)
        detail["sources"][0]["text"] = detail["sources"][0]["text"].replace("\n", f"{evil}\n", 3)
        detail["stages"][0]["text"] = evil
        detail["stages"][0]["lines"] = [[0]]
        detail["graph"]["svg"] = (
            '<svg xmlns="http://www.w3.org/2000/svg" width="90" height="90" onload="document.title=\'run\'">'
            f'<g class="block" data-block="0">{drawn}</g><foreignObject><p>no</p></foreignObject></svg>'
        )
        data["kernels"][number] = kernel | {"name": evil, "text": evil, "detail": deflated(detail)}

    visit(page, report.changed(tmp_path / "evil.html", change), number, tab="kernel")
    expect(page.locator("h1")).to_have_text(evil)
    assert panel(page, "kernel").locator("li > code").all_text_contents() == [evil]
    tab(page, "cfg").click()
    assert page.locator("#panel-cfg svg *").evaluate_all("(all) => all.map((one) => one.localName)") == ["g", "rect"]
    page.locator("#panel-cfg rect").click()
    assert (
        page.locator("main img, main script, main foreignObject, main [onerror], main [onclick], main [onload]").count()
        == 0
    )
    assert page.title() == f"{evil}: {report.kernels[number]['verdict']} (gpuvcc)"


# ------------------------------------------------------------------------------------------------------ the tests themselves


@pytest.mark.parametrize(
    "damage",
    [
        ("console.error", "start();", 'start(); console.error("broken");'),
        ("an error", "start();", "start(); setTimeout(() => missing.part, 0);"),
        ("a request", "start();", 'start(); fetch("http://127.0.0.1:9/").catch(() => {});'),
        ("a picture", "</main>", '<img alt="" src="http://127.0.0.1:9/picture.png"></main>'),
        ("a handler", "</main>", '<img alt="" src="data:," onerror="1"></main>'),
        ("a style", "</main>", '<p style="color: red">red</p></main>'),
    ],
    ids=lambda damage: damage[0].replace(" ", "-"),
)
def test_broken_page_is_noticed(browser: Browser, report: Report, tmp_path: Path, damage: tuple[str, str, str]) -> None:
    _, old, new = damage
    text = report.path.read_text()
    assert text.count(f"\n{old}\n" if old == "start();" else old) == 1
    path = tmp_path / "broken.html"
    path.write_text(text.replace(old, new) if old != "start();" else text.replace(f"\n{old}\n", f"\n{new}\n"))
    with pytest.raises(AssertionError), watched(browser) as page:
        visit(page, Report(path))


def test_without_javascript(browser: Browser, report: Report) -> None:
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(report.path.as_uri())
    expect(page.locator("main")).to_contain_text("JavaScript")
    context.close()
