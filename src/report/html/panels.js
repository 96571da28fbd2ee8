// The HTML report, part 3 of 5: the panels of the tabs, but for the steps.
//
// A panel is { id, title, about, body, build(), mark(selected) }: `build` is called when it is first shown or printed, and
// `mark` answers how many of its parts come from the selected instructions, built or not.

function stagePanel(stage) {
  const panel = { id: stage.name, title: stage.title, about: stage.about };
  if (stage.failed || typeof stage.text !== "string")
    return {
      ...panel,
      body: element("p", { class: "failed" }, `This stage is not there: ${stage.failed ?? "it has no text"}`),
      build() {},
      mark: () => 0,
    };
  const view = codeView({ label: stage.title, text: stage.text, language: "ivl", first: 1, lines: stage.lines });
  const count = element("span", { class: "marks", role: "status" });
  const next = element("button", { type: "button", onclick: () => view.following() }, "Next marked line");
  const mark = (selected) => {
    const marked = view.mark(selected);
    count.textContent = selected.size
      ? `${plural(marked, "line")} from the selected instruction${selected.size === 1 ? "" : "s"}`
      : "Select a line to see where it comes from";
    next.disabled = marked < 2;
    return marked;
  };
  return {
    ...panel,
    body: element("div", {}, element("div", { class: "bar" }, count, next), view.list),
    build: view.build,
    mark,
  };
}

const SVG = "http://www.w3.org/2000/svg";
const DRAWN = new Set([
  "svg",
  "g",
  "path",
  "rect",
  "text",
  "tspan",
  "title",
  "line",
  "polyline",
  "polygon",
  "ellipse",
  "circle",
  "defs",
  "marker",
]);

/** A copy of a drawing of which only shapes and texts are left. */
function drawing(text) {
  const parsed = new DOMParser().parseFromString(text, "image/svg+xml").documentElement;
  const copy = (node) => {
    if (node.nodeType === Node.TEXT_NODE) return document.createTextNode(node.data);
    if (node.nodeType !== Node.ELEMENT_NODE || node.namespaceURI !== SVG || !DRAWN.has(node.localName)) return null;
    const made = document.createElementNS(SVG, node.localName);
    for (const { name, value } of node.attributes)
      if (!/^(?:on|style$|href$|xlink|xmlns)/.test(name)) made.setAttribute(name, value);
    made.append(...[...node.childNodes].map(copy).filter(Boolean));
    return made;
  };
  return copy(parsed);
}

const CONTROL_FLOW = {
  id: "cfg",
  title: "CFG",
  about: "The control flow graph: blocks, and where each may go.",
  drawing: "control flow",
  block: "Block",
};

/** A drawn graph; `about` is what it shows. */
function graphPanel(graph, about) {
  const body = element("div");
  let blocks = [];
  const mark = (selected) => {
    for (const { node, of } of blocks) {
      const marked = of.instructions.some((one) => selected.has(one));
      node.classList.toggle("marked", marked);
      node.setAttribute("aria-pressed", String(marked));
    }
    for (const line of body.querySelectorAll("[data-instruction]"))
      line.classList.toggle("chosen", selected.has(Number(line.dataset.instruction)));
    return graph.blocks.filter((block) => block.instructions.some((one) => selected.has(one))).length;
  };
  const build = () => {
    if (body.firstChild) return;
    const svg = drawing(graph.svg);
    if (!svg) return body.append(element("p", { class: "failed" }, "The graph is too large to be drawn."));
    svg.setAttribute("role", "group");
    svg.setAttribute("aria-label", `Graph of the ${about.drawing}`);
    blocks = [...svg.querySelectorAll("[data-block]")]
      .map((node) => ({ node, of: graph.blocks[Number(node.dataset.block)] }))
      .filter(({ of }) => of);
    for (const { node, of } of blocks) {
      const choose = () => select(of.instructions);
      node.setAttribute("role", "button");
      node.setAttribute("tabindex", "0");
      node.setAttribute(
        "aria-label",
        `${about.block} ${of.label}${of.loop_head ? ", loop head" : ""}, ${plural(of.instructions.length, "instruction")}`,
      );
      if (of.loop_head) node.classList.add("loop-head");
      node.addEventListener("click", (event) => {
        const line = event.target.closest("[data-instruction]");
        return line ? select([Number(line.dataset.instruction)]) : choose();
      });
      node.addEventListener("keydown", (event) => {
        if (event.key !== "Enter" && event.key !== " ") return;
        event.preventDefault();
        choose();
      });
    }
    const fit = element("input", { type: "checkbox", onchange: () => body.classList.toggle("fit", fit.checked) });
    body.append(
      element(
        "div",
        { class: "bar" },
        element("label", {}, fit, " Fit to the width"),
        element("span", { class: "marks" }, "Select a block, or a line of one, to mark what became of it"),
      ),
      element(
        "div",
        { class: "graph", tabindex: "0", role: "region", "aria-label": `Drawing of the graph of the ${about.drawing}` },
        svg,
      ),
    );
    mark(new Set(state.instructions));
  };
  return {
    id: about.id,
    title: about.title,
    about: about.about,
    body,
    build,
    mark,
  };
}

function invariantsPanel(invariants) {
  const kinds = {
    all: () => true,
    kept: (one) => one.fate === "kept",
    used: (one) => one.used,
    dropped: (one) => one.fate !== "kept",
  };
  const rows = invariants.map((one) => {
    const kept = one.fate === "kept";
    return element(
      "tr",
      { class: kept ? "kept" : "dropped" },
      element(
        "td",
        {},
        element("code", {}, one.loop),
        one.line ? ` line ${one.line}` : "",
        one.pair ? `, ${one.pair}` : "",
      ),
      element("td", {}, one.family),
      element("td", {}, element("code", {}, coloured(one.text, "ivl"))),
      element(
        "td",
        {},
        element("span", { class: "sign", "aria-hidden": "true" }, kept ? "✓" : "✗"),
        ` ${one.fate}`,
        one.used ? element("b", { class: "used" }, " used") : "",
      ),
    );
  });
  const choice = element(
    "select",
    { onchange: () => rows.forEach((row, index) => (row.hidden = !kinds[choice.value](invariants[index]))) },
    Object.keys(kinds).map((kind) =>
      element("option", { value: kind }, `${kind} (${invariants.filter(kinds[kind]).length})`),
    ),
  );
  const table = element(
    "table",
    {},
    element(
      "thead",
      {},
      element(
        "tr",
        {},
        ["Loop", "Family", "Invariant", "Fate"].map((name) => element("th", { scope: "col" }, name)),
      ),
    ),
    element("tbody", {}, rows),
  );
  const body = element(
    "div",
    {},
    element("div", { class: "bar" }, element("label", {}, "Show ", choice)),
    element(
      "div",
      { class: "scroll", tabindex: "0", role: "region", "aria-label": "Invariants with their families and fates" },
      table,
    ),
  );
  return {
    id: "invariants",
    title: "Candidates",
    about: "What was tried as an invariant of each loop: the family that proposed it, and whether it stayed.",
    body,
    build() {},
    mark: () => 0,
  };
}

/** The numbers of the threads that a group names, such as "threads 32 to 63"; null where they are not numbers. */
function numbersOf(name) {
  const [, first, last] = /^threads? (\d+)(?: to (\d+))?$/.exec(name) ?? [];
  if (first === undefined) return null;
  return Array.from({ length: Number(last ?? first) - Number(first) + 1 }, (_, index) => Number(first) + index);
}

/** The threads of a block, a warp a row, each with the letter of the place where it stands. */
function warps(groups) {
  const cells = [];
  for (const { letter, look, names } of groups)
    for (const name of names) {
      const numbers = numbersOf(name);
      if (!numbers) return null;
      for (const number of numbers) cells[number] = element("td", { class: look, title: `thread ${number}` }, letter);
    }
  if (cells.length < 2) return null;
  const rows = Array.from({ length: Math.ceil(cells.length / 32) }, (_, warp) =>
    element(
      "tr",
      {},
      element("th", { scope: "row" }, `warp ${warp}`),
      Array.from(cells.slice(warp * 32, warp * 32 + 32), (cell) => cell ?? element("td", {}, "")),
    ),
  );
  return element(
    "table",
    { class: "warps" },
    element("caption", {}, "The threads of the block, a warp a row"),
    element("tbody", {}, rows),
  );
}

/** Who waits where: a row for each place at which threads stand, and a picture of the block. */
function barriersPanel(detail) {
  const { barriers } = detail;
  const standing = (is) => barriers.threads.filter(is).map((thread) => thread.name);
  const groups = barriers.places.map((at, index) => {
    const instruction = detail.instructions[at.instruction];
    const where = [
      "waits at ",
      element("code", {}, instruction?.text ?? "a barrier"),
      " ",
      instruction ? place(detail, instruction.line, `PTX ${instruction.line}`) : null,
      instruction?.cuda ? ` from line ${instruction.cuda.line}` : "",
    ];
    return { look: `waits place-${index % 4}`, where, names: standing((thread) => thread.waits === index) };
  });
  groups.push({ look: "exited", where: "has left the kernel", names: standing((thread) => thread.exited) });
  const elsewhere = (thread) => thread.waits === undefined && !thread.exited;
  groups.push({ look: "elsewhere", where: "is on its way", names: standing(elsewhere) });
  const shown = groups.filter((group) => group.names.length);
  shown.forEach((group, index) => (group.letter = String.fromCharCode(65 + (index % 26))));

  const row = ({ letter, look, where, names }) =>
    element(
      "tr",
      { class: look },
      element("th", { scope: "row" }, element("span", { class: "letter" }, letter)),
      element("td", {}, where),
      element(
        "td",
        {},
        names.length > 6 ? `${names.slice(0, 6).join(", ")}, and ${names.length - 6} more` : names.join(", "),
      ),
    );
  const heads = ["", "Where", "Who"].map((name) => element(name ? "th" : "td", name ? { scope: "col" } : {}, name));
  const table = element(
    "table",
    { class: "standing" },
    element("caption", {}, title(barriers.title)),
    element("thead", {}, element("tr", {}, heads)),
    element("tbody", {}, shown.map(row)),
  );
  const mark = (selected) => barriers.places.filter((at) => selected.has(at.instruction)).length;
  return {
    id: "barriers",
    title: "Barriers",
    about: "Who waits where when the block cannot go on.",
    body: element(
      "div",
      { class: "scroll", tabindex: "0", role: "region", "aria-label": "Who waits where" },
      table,
      warps(shown),
    ),
    build() {},
    mark,
  };
}

function reportPanel(kernel) {
  const body = element(
    "pre",
    { class: "report", tabindex: "0", role: "region", "aria-label": "The report as text" },
    kernel.text,
  );
  return { id: "report", title: "Report", about: "What --format text prints.", body, build() {}, mark: () => 0 };
}
