// The HTML report, part 4 of 5: the step-through of a counterexample.

const byNumber = new Intl.Collator("en", { numeric: true });

/** The registers of a thread once the steps up to `at` are done: name, value, value before, and whether this step changed it. */
function registers(replay, thread, at) {
  const known = new Map();
  for (const [name, value] of Object.entries(replay.threads[thread].registers ?? {})) known.set(name, { name, value });
  replay.steps.slice(0, at + 1).forEach((step, index) => {
    if (step.thread !== thread) return;
    for (const [name, value] of Object.entries(step.registers ?? {}))
      known.set(name, { name, value, before: known.get(name)?.value, changed: index === at });
  });
  return [...known.values()].sort((a, b) => byNumber.compare(a.name, b.name));
}

function registerRow({ name, value, before, changed }) {
  const sign = changed ? element("span", { class: "sign", role: "img", "aria-label": "changed" }, "●") : null;
  const was = changed && before !== undefined ? element("span", { class: "before" }, ` was ${before}`) : null;
  return element(
    "tr",
    { class: changed && "changed" },
    element("th", { scope: "row" }, sign, name),
    element("td", {}, value, was),
  );
}

function registerTable(thread, number) {
  const heads = ["Register", "Value"].map((name) => element("th", { scope: "col" }, name));
  return element(
    "table",
    { class: `registers thread-${number}` },
    element("caption", {}, `Registers of ${thread.name}`),
    element("thead", { class: "hidden" }, element("tr", {}, heads)),
    element("tbody"),
  );
}

/** A step in the column of its thread. */
function traceRow(step, index, thread, text, onclick) {
  const sign = step.defect ? element("span", { class: "sign", role: "img", "aria-label": "defect" }, "✗ ") : null;
  const what = element(
    "span",
    { class: "what" },
    element("span", { class: "hidden" }, `${thread.name}: `),
    sign,
    element("code", {}, coloured(text, "ptx")),
    step.note ? element("span", { class: "note" }, step.note) : null,
  );
  const look = `thread-${step.thread}${step.defect ? " defect" : ""}`;
  return element(
    "li",
    { role: "option", id: `step-${index}`, "aria-selected": "false", class: look, onclick },
    element("span", { class: "number" }, String(index + 1)),
    what,
  );
}

/** The counterexample, one step at a time. */
function stepsPanel(kernel, detail) {
  const { replay } = detail;
  const told = (kernel.json.findings ?? []).map((finding) => finding.replay);
  const { steps, threads } = replay;
  const defects = steps.flatMap((step, index) => (step.defect ? [index] : []));
  const body = element("div", { class: "steps" });
  let list, setCurrent, slider, said, tables, buttons;

  const text = (step) => detail.instructions[step.instruction]?.text ?? "";
  const describe = (index) => {
    const step = steps[index];
    return `Step ${index + 1} of ${steps.length}: ${threads[step.thread].name}: ${text(step)}${step.note ? `: ${step.note}` : ""}${step.defect ? " (the defect)" : ""}`;
  };

  function show(index) {
    state.step = Math.min(Math.max(index, 0), steps.length - 1);
    if (!list) return;
    const at = state.step;
    [...list.children].forEach((row, number) => {
      row.classList.toggle("future", number > at);
      row.setAttribute("aria-selected", String(number === at));
    });
    setCurrent(at);
    reveal(list, list.children[at]);
    slider.value = at;
    slider.setAttribute("aria-valuetext", `step ${at + 1} of ${steps.length}`);
    said.textContent = describe(at);
    buttons.first.disabled = buttons.back.disabled = at === 0;
    buttons.last.disabled = buttons.forward.disabled = at === steps.length - 1;
    threads.forEach((_, number) => {
      const rows = registers(replay, number, at).map(registerRow);
      tables[number].tBodies[0].replaceChildren(
        ...(rows.length ? rows : [element("tr", {}, element("td", { colspan: "2" }, "no register written yet"))]),
      );
      tables[number].classList.toggle("turn", steps[at].thread === number);
    });
  }
  const go = (index) => {
    show(index);
    select([steps[state.step].instruction]);
  };

  function build() {
    if (list) return;
    const button = (sign, label, to) =>
      element("button", { type: "button", "aria-label": label, title: label, onclick: () => go(to()) }, sign);
    buttons = {
      first: button("|◀", "First step", () => 0),
      back: button("◀", "Step back", () => state.step - 1),
      forward: button("▶", "Step forward", () => state.step + 1),
      last: button("▶|", "Last step", () => steps.length - 1),
    };
    slider = element("input", {
      type: "range",
      min: 0,
      max: steps.length - 1,
      "aria-label": "Step",
      oninput: () => go(Number(slider.value)),
    });
    said = element("p", { role: "status", class: "now" });
    const summary = element(
      "ul",
      { class: "defects", "aria-label": "The steps that make the defect" },
      defects.map((index) =>
        element(
          "li",
          {},
          element("button", { type: "button", onclick: () => go(index) }, `✗ Step ${index + 1}`),
          ` ${threads[steps[index].thread].name} ${steps[index].note ?? text(steps[index])}`,
        ),
      ),
    );
    list = element(
      "ol",
      { class: "trace", role: "listbox", tabindex: "0", "aria-label": "Steps in their order" },
      steps.map((step, index) => traceRow(step, index, threads[step.thread], text(step), () => go(index))),
    );
    setCurrent = arrows(
      list,
      () => steps.length,
      (from, by) => (from + by >= 0 && from + by < steps.length ? from + by : -1),
      go,
    );
    tables = threads.map(registerTable);
    const heading = element(
      "div",
      { class: "columns", "aria-hidden": "true" },
      element("span", {}, ""),
      threads.map((thread, number) => element("span", { class: `thread-${number}` }, thread.name)),
    );
    body.append(
      element("p", { class: "what" }, title(replay.title)),
      summary,
      element("div", { class: "bar", role: "group", "aria-label": "Steps" }, Object.values(buttons), slider),
      said,
      element(
        "div",
        { class: "both" },
        element("div", {}, heading, list),
        element(
          "div",
          { class: "tables", tabindex: "0", role: "region", "aria-label": "Registers of the threads" },
          tables,
        ),
      ),
      replay.command && !told.includes(replay.command) ? command(replay.command) : "",
    );
    show(state.step < 0 ? (defects[0] ?? 0) : state.step);
  }
  body.addEventListener("keydown", (event) => {
    const by = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    if (!by || event.ctrlKey || event.altKey || event.metaKey || event.target === slider) return;
    event.preventDefault();
    go(state.step + by);
  });
  const mark = (selected) => steps.filter((step) => selected.has(step.instruction)).length;
  return {
    id: "steps",
    title: "Steps",
    about: "The execution with the defect, one step at a time: the arrow keys go back and forth.",
    body,
    build,
    mark,
    show,
  };
}
