// The HTML report, part 4 of 5: the step-through of a counterexample.

const byNumber = new Intl.Collator("en", { numeric: true });

/** The registers of a thread once the steps up to `at` are done: name, value, value before, and whether this step changed it. */
function registers(steps, thread, at) {
  const known = new Map();
  for (let index = 0; index <= at; index++) {
    if (steps[index].thread !== thread) continue;
    for (const [name, value] of Object.entries(steps[index].registers ?? {}))
      known.set(name, { name, value, before: known.get(name)?.value, changed: index === at });
  }
  return [...known.values()].sort((a, b) => byNumber.compare(a.name, b.name));
}

/** The counterexample, one step at a time. */
function stepsPanel(kernel, detail) {
  const { replay } = detail;
  const told = (kernel.json.findings ?? []).map((finding) => finding.replay);
  const { steps, threads } = replay;
  const defects = steps.flatMap((step, index) => (step.defect ? [index] : []));
  const body = element("div", { class: "steps" });
  let list, setCurrent, slider, said, tables, buttons;

  const instruction = (step) => detail.instructions[step.instruction];
  const describe = (index) => {
    const step = steps[index];
    return `Step ${index + 1} of ${steps.length}: ${threads[step.thread].name}: ${instruction(step)?.text ?? ""}${step.note ? `: ${step.note}` : ""}${step.defect ? " (the defect)" : ""}`;
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
      const rows = registers(steps, number, at).map((one) =>
        element(
          "tr",
          { class: one.changed ? "changed" : "" },
          element(
            "th",
            { scope: "row" },
            one.changed ? element("span", { class: "sign", role: "img", "aria-label": "changed" }, "●") : "",
            one.name,
          ),
          element(
            "td",
            {},
            one.value,
            one.changed && one.before !== undefined ? element("span", { class: "before" }, ` was ${one.before}`) : "",
          ),
        ),
      );
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
    const button = (text, label, to) =>
      element("button", { type: "button", "aria-label": label, title: label, onclick: () => go(to()) }, text);
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
          ` ${threads[steps[index].thread].name} ${steps[index].note ?? instruction(steps[index])?.text ?? ""}`,
        ),
      ),
    );
    list = element(
      "ol",
      { class: "trace", role: "listbox", tabindex: "0", "aria-label": "Steps in their order" },
      steps.map((step, index) =>
        element(
          "li",
          {
            role: "option",
            id: `step-${index}`,
            "aria-selected": "false",
            class: `thread-${step.thread}${step.defect ? " defect" : ""}`,
            onclick: () => go(index),
          },
          element("span", { class: "number" }, String(index + 1)),
          element(
            "span",
            { class: "what" },
            element("span", { class: "hidden" }, `${threads[step.thread].name}: `),
            step.defect ? element("span", { class: "sign", role: "img", "aria-label": "defect" }, "✗ ") : "",
            element("code", {}, coloured(instruction(step)?.text ?? "", "ptx")),
            step.note ? element("span", { class: "note" }, step.note) : "",
          ),
        ),
      ),
    );
    setCurrent = arrows(
      list,
      () => steps.length,
      (from, by) => (from + by >= 0 && from + by < steps.length ? from + by : -1),
      go,
    );
    tables = threads.map((thread, number) =>
      element(
        "table",
        { class: `registers thread-${number}` },
        element("caption", {}, `Registers of ${thread.name}`),
        element(
          "thead",
          { class: "hidden" },
          element("tr", {}, element("th", { scope: "col" }, "Register"), element("th", { scope: "col" }, "Value")),
        ),
        element("tbody"),
      ),
    );
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
          { class: "tables", tabindex: "0", role: "region", "aria-label": "Registers of both threads" },
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
    about: "The two threads of the counterexample, one step at a time: the arrow keys go back and forth.",
    body,
    build,
    mark,
    show,
  };
}
