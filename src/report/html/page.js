// The HTML report, part 5 of 5: the page. The data is what /src/report/html says: a list of kernels, each with its report and, deflated, its
// detail (sources, instructions, graph, stages, invariants, replay, barriers), which is inflated when the kernel is opened.
//
// What is selected is one thing for the whole page: `state`, a set of instructions of the open kernel. Each view marks what
// became of them, and each view can change it. The address keeps it (#kernel=0&tab=vc&instruction=12&step=3; all numbers
// count from 0, as in the data), so that a link shows what its sender saw.

const DATA = JSON.parse(document.getElementById("data").textContent);

const state = { kernel: -1, tab: "", instructions: [], step: -1 };
/** The views of the open kernel. */
let open = null;

// ---------------------------------------------------------------------------------------------------- tabs

function panelsOf(kernel, detail) {
  const panels = [];
  if (detail.replay?.steps?.length) panels.push(stepsPanel(kernel, detail));
  if (detail.barriers) panels.push(barriersPanel(detail));
  if (detail.barrier_graph)
    panels.push(
      graphPanel(detail.barrier_graph, {
        id: "barrier-graph",
        title: "Barrier graph",
        about: "Generations of barriers in one execution: who comes, who waits, and what leads from one to the next.",
        drawing: "barriers",
        block: "Generations",
      }),
    );
  if (detail.graph) panels.push(graphPanel(detail.graph, CONTROL_FLOW));
  for (const stage of detail.stages) panels.push(stagePanel(stage));
  if (detail.invariants.length)
    panels.splice(
      panels.findIndex((one) => one.id === "ivl") + 1 || panels.length,
      0,
      invariantsPanel(detail.invariants),
    );
  panels.push(reportPanel(kernel));
  return panels;
}

/** Tabs as https://www.w3.org/WAI/ARIA/apg/patterns/tabs/ has them: one of them is in the order of Tab, arrows go on. */
function tabs(panels) {
  const list = element("div", { role: "tablist", "aria-label": "Stages" });
  for (const panel of panels) {
    panel.count = element("span", { class: "count" });
    panel.tab = element(
      "button",
      {
        type: "button",
        role: "tab",
        id: `tab-${panel.id}`,
        "aria-controls": `panel-${panel.id}`,
        "aria-selected": "false",
        tabindex: "-1",
        onclick: () => openTab(panel.id),
      },
      panel.title,
      panel.count,
    );
    panel.section = element(
      "section",
      { role: "tabpanel", id: `panel-${panel.id}`, "aria-labelledby": `tab-${panel.id}`, hidden: true },
      element("h2", { class: "printed" }, panel.title),
      element("p", { class: "about" }, panel.about),
      panel.body,
    );
    list.append(panel.tab);
  }
  list.addEventListener("keydown", (event) => {
    const at = panels.findIndex((panel) => panel.id === state.tab);
    const to = { ArrowRight: at + 1, ArrowLeft: at - 1, Home: 0, End: panels.length - 1 }[event.key];
    if (to === undefined || event.ctrlKey || event.altKey || event.metaKey) return;
    event.preventDefault();
    const panel = panels[(to + panels.length) % panels.length];
    openTab(panel.id);
    panel.tab.focus();
  });
  return list;
}

function openTab(id) {
  const panel = open.panels.find((one) => one.id === id) ?? open.panels[0];
  state.tab = panel.id;
  for (const one of open.panels) {
    const chosen = one === panel;
    one.tab.setAttribute("aria-selected", String(chosen));
    one.tab.tabIndex = chosen ? 0 : -1;
    one.section.hidden = !chosen;
  }
  panel.build();
  panel.mark(new Set(state.instructions));
  keepAddress();
}

// ---------------------------------------------------------------------------------------------------- selection

/** Selects instructions: every view marks what became of them. */
function select(instructions) {
  state.instructions = [...new Set(instructions)].filter((one) => open.detail.instructions[one]);
  const selected = new Set(state.instructions);
  for (const view of open.sources) view.mark(selected);
  for (const panel of open.panels) {
    const count = panel.mark(selected);
    panel.count.textContent = selected.size && count ? ` ${count}` : "";
  }
  open.selection.replaceChildren(...selectionText());
  keepAddress();
}

function selectionText() {
  if (!state.instructions.length) return ["Select a line of a source or of a stage: the page marks what became of it."];
  const all = state.instructions.map((index) => open.detail.instructions[index]);
  const shown = all
    .slice(0, 3)
    .map((one) =>
      element(
        "span",
        { class: "one" },
        `PTX ${one.line} `,
        element("code", {}, coloured(one.text, "ptx")),
        one.explain && all.length === 1 ? element("span", { class: "explain" }, ` ${one.explain}`) : "",
      ),
    );
  const cuda = all.length === 1 && all[0].cuda ? ` from line ${all[0].cuda.line}` : "";
  return [
    ...shown,
    cuda,
    all.length > 3 ? ` and ${all.length - 3} more` : "",
    element("button", { type: "button", onclick: () => select([]) }, "Clear"),
  ];
}

// ---------------------------------------------------------------------------------------------------- a kernel

async function inflate(base64) {
  const bytes = Uint8Array.from(atob(base64), (one) => one.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
  return JSON.parse(await new Response(stream).text());
}

/** Shows a kernel, at the tab, the instructions, and the step of `at`. */
async function openKernel(number, at = {}) {
  const kernel = DATA.kernels[number];
  Object.assign(state, { kernel: number, tab: at.tab ?? state.tab, instructions: [], step: at.step ?? -1 });
  open = null;
  const main = document.getElementById("kernel");
  main.setAttribute("aria-busy", "true");
  delete main.dataset.ready;
  for (const link of document.querySelectorAll("#kernels a")) {
    const chosen = Number(link.dataset.kernel) === number;
    if (chosen) link.setAttribute("aria-current", "page");
    else link.removeAttribute("aria-current");
    link.tabIndex = chosen ? 0 : -1;
  }
  document.title = `${kernel.name}: ${kernel.verdict} (gpuvcc)`;
  const heading = element(
    "header",
    { class: "kernel" },
    element("h1", { id: "kernel-name", tabindex: "-1" }, kernel.name),
    badge(kernel.verdict),
    element("p", { class: "message" }, kernel.message),
    kernel.mangled === kernel.name ? null : element("p", { class: "facts" }, element("code", {}, kernel.mangled)),
  );
  let detail;
  try {
    detail = await inflate(kernel.detail);
  } catch (error) {
    if (state.kernel !== number) return;
    main.replaceChildren(
      heading,
      element("p", { class: "failed", role: "alert" }, `The detail of this kernel cannot be shown: ${error.message}`),
      element("pre", { class: "report" }, kernel.text),
    );
    main.removeAttribute("aria-busy");
    return;
  }
  if (state.kernel !== number) return;
  const code = sources(kernel, detail);
  const panels = panelsOf(kernel, detail);
  const selection = element("div", { class: "selection", role: "status" });
  open = { detail, panels, sources: code.views, selection };
  main.replaceChildren(
    ...[
      heading,
      head(kernel, detail),
      code.section,
      element(
        "div",
        { class: "stages" },
        selection,
        tabs(panels),
        panels.map((panel) => panel.section),
      ),
    ]
      .flat(Infinity)
      .filter(Boolean),
  );
  main.removeAttribute("aria-busy");
  openTab(state.tab);
  select(at.instructions ?? racing(kernel, detail));
  if (at.step !== undefined) panels.find((panel) => panel.id === "steps")?.show(at.step);
  main.dataset.ready = String(number);
}

/** The instructions of the first finding: what is selected where the address says nothing. */
function racing(kernel, detail) {
  const lines = new Set((kernel.json.findings?.[0]?.accesses ?? []).map((access) => access.ptx_line));
  return detail.instructions.flatMap((one, index) =>
    detail.sources[one.source]?.language === "ptx" && lines.has(one.line) ? [index] : [],
  );
}

// ---------------------------------------------------------------------------------------------------- address

function keepAddress() {
  const parts = [`kernel=${state.kernel}`, `tab=${state.tab}`];
  if (state.instructions.length) parts.push(`instruction=${state.instructions.join(",")}`);
  if (state.step >= 0) parts.push(`step=${state.step}`);
  history.replaceState(null, "", `#${parts.join("&")}`);
}

/** What an address says; numbers that are none are left out. */
function readAddress(address) {
  const said = new URLSearchParams(new URL(address).hash.slice(1));
  const numbers = (name) =>
    (said.get(name) ?? "")
      .split(",")
      .filter((one) => /^\d{1,9}$/.test(one))
      .map(Number);
  const at = { kernel: numbers("kernel")[0] };
  if (said.has("tab")) at.tab = said.get("tab");
  if (said.has("instruction")) at.instructions = numbers("instruction");
  if (numbers("step").length) at.step = numbers("step")[0];
  return at;
}

function followAddress(address) {
  const at = readAddress(address);
  if (DATA.kernels[at.kernel]) return openKernel(at.kernel, at);
  const rank = (kernel) => TONES.indexOf(verdictLook(kernel.verdict).tone);
  const best = DATA.kernels.reduce(
    (found, kernel, index) => (rank(kernel) < rank(DATA.kernels[found]) ? index : found),
    0,
  );
  return openKernel(best);
}

// ---------------------------------------------------------------------------------------------------- the list

function kernelList() {
  const list = document.getElementById("kernels");
  const filter = document.getElementById("filter");
  const hidden = new Set();
  const items = DATA.kernels.map((kernel, number) =>
    element(
      "li",
      {},
      element(
        "a",
        { href: `#kernel=${number}`, "data-kernel": number, tabindex: "-1", title: kernel.mangled },
        badge(kernel.verdict),
        element("span", { class: "name" }, kernel.name),
        element("span", { class: "file" }, kernel.file),
      ),
    ),
  );
  list.append(...items);
  const update = () => {
    const words = filter.value.toLowerCase().split(/\s+/).filter(Boolean);
    let count = 0;
    DATA.kernels.forEach((kernel, number) => {
      const text = `${kernel.name} ${kernel.mangled} ${kernel.file}`.toLowerCase();
      items[number].hidden = hidden.has(kernel.verdict) || !words.every((word) => text.includes(word));
      count += items[number].hidden ? 0 : 1;
    });
    document.getElementById("shown").textContent =
      count === items.length ? plural(count, "kernel") : `${count} of ${plural(items.length, "kernel")}`;
    const links = items.filter((item) => !item.hidden).map((item) => item.firstChild);
    if (links.length && !links.some((link) => link.tabIndex === 0)) links[0].tabIndex = 0;
  };
  const verdicts = [...new Set(DATA.kernels.map((kernel) => kernel.verdict))];
  document.getElementById("verdicts").append(
    ...verdicts.map((verdict) => {
      const button = element(
        "button",
        {
          type: "button",
          "aria-pressed": "true",
          onclick: () => {
            if (!hidden.delete(verdict)) hidden.add(verdict);
            button.setAttribute("aria-pressed", String(!hidden.has(verdict)));
            update();
          },
        },
        badge(verdict),
        ` ${DATA.kernels.filter((kernel) => kernel.verdict === verdict).length}`,
      );
      return button;
    }),
  );
  filter.addEventListener("input", update);
  list.addEventListener("keydown", (event) => {
    const by = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (!by) return;
    event.preventDefault();
    const links = items.filter((item) => !item.hidden).map((item) => item.firstChild);
    links[links.indexOf(document.activeElement) + by]?.focus();
  });
  update();
}

function start() {
  document.getElementById("version").textContent = DATA.version;
  document.getElementById("command").textContent = DATA.command;
  document
    .getElementById("totals")
    .append(
      ...Object.entries(DATA.counts).flatMap(([verdict, count]) => [
        element("span", { class: "total" }, `${count} `, badge(verdict)),
        " ",
      ]),
    );
  const main = document.getElementById("kernel");
  if (DATA.errors?.length)
    main.before(
      element(
        "section",
        { class: "errors", "aria-label": "Input errors" },
        element("h2", {}, plural(DATA.errors.length, "input error")),
        DATA.errors.map((text) => element("pre", {}, text)),
      ),
    );
  document.querySelector(".skip").addEventListener("click", (event) => {
    event.preventDefault();
    document.getElementById("kernel-name")?.focus();
  });
  addEventListener("beforeprint", () => open?.panels.forEach((panel) => panel.build()));
  if (!DATA.kernels.length)
    return main.replaceChildren(element("h1", { id: "kernel-name", tabindex: "-1" }, "No kernel in this run"));
  kernelList();
  addEventListener("hashchange", (event) => followAddress(event.newURL));
  document.addEventListener(
    "keydown",
    (event) => event.key === "Escape" && open && state.instructions.length && select([]),
  );
  return followAddress(location.href);
}

start();
