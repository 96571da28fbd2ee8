// The HTML report, part 2 of 5: the sources side by side, and above them the finding and on what the verdict rests.

// ---------------------------------------------------------------------------------------------------- sources

/** For each line of a source the instructions that stand there or come from there. */
function linesOfSource(detail, number) {
  const source = detail.sources[number];
  const lines = source.text
    .replace(/\n$/, "")
    .split("\n")
    .map(() => []);
  detail.instructions.forEach((instruction, index) => {
    const line =
      instruction.source === number
        ? instruction.line
        : instruction.cuda?.source === number
          ? instruction.cuda.line
          : 0;
    lines[line - source.first_line]?.push(index);
  });
  return lines;
}

/** What each finding says of the lines of a source: a map from indices of lines. */
function defectsOfSource(findings, source) {
  const defects = new Map();
  const note = (line, text) => {
    const index = line - source.first_line;
    if (line && index >= 0 && !defects.get(index)?.includes(text))
      defects.set(index, [defects.get(index), text].filter(Boolean).join("; "));
  };
  for (const finding of findings)
    for (const access of finding.accesses) {
      if (source.language === "ptx") note(access.ptx_line, sentence(access));
      else if (
        access.file &&
        (source.path === access.file ||
          source.path.endsWith(`/${access.file}`) ||
          access.file.endsWith(`/${source.path}`))
      )
        note(access.line, sentence(access));
    }
  return defects;
}

const DOES = {
  read: "reads",
  write: "writes",
  atomic: "changes atomically",
  arrive: "waits at this barrier",
  absent: "does not come to this barrier",
};

function sentence(access) {
  const bytes = access.bytes ? ` ${plural(access.bytes, "byte")}` : "";
  return `thread ${triple(access.thread)} of block ${triple(access.block)} ${DOES[access.op] ?? access.op}${bytes}`;
}

/** PTX at the left, what it was compiled from at the right. */
function sources(kernel, detail) {
  const made = detail.sources.map((source, number) => {
    const view = codeView({
      label: `${source.language === "ptx" ? "PTX" : "Source"} ${source.path}`,
      text: source.text,
      language: source.language,
      first: source.first_line,
      lines: linesOfSource(detail, number),
      defects: defectsOfSource(kernel.json.findings ?? [], source),
    });
    view.build();
    const caption = element(
      "figcaption",
      {},
      element("b", {}, source.language === "ptx" ? "PTX" : "Source"),
      ` ${source.path}`,
    );
    return { view, figure: element("figure", { class: "source" }, caption, view.list), ptx: source.language === "ptx" };
  });
  const column = (ptx) => {
    const figures = made.filter((one) => one.ptx === ptx).map((one) => one.figure);
    return figures.length ? element("div", { class: "column" }, figures) : null;
  };
  const section = element("section", { class: "sources", "aria-label": "Sources" }, column(false), column(true));
  return { section, views: made.map((one) => one.view) };
}

// ---------------------------------------------------------------------------------------------------- head

/** A button that selects the instructions of a line of PTX; text where there are none. */
function place(detail, line, label) {
  const found = detail.instructions.flatMap((one, index) =>
    one.line === line && detail.sources[one.source]?.language === "ptx" ? [index] : [],
  );
  return found.length
    ? element("button", { type: "button", class: "place", onclick: () => select(found) }, label)
    : element("span", { class: "place" }, label);
}

function findingCard(detail, finding) {
  const { icon, tone } = verdictLook(finding.code);
  const where = finding.array
    ? ` on ${finding.array} (${finding.space}${finding.offset === null ? "" : `, byte offset ${finding.offset}`})`
    : "";
  const accesses = finding.accesses.map((access) =>
    element(
      "div",
      { class: "access" },
      element("p", {}, title(sentence(access))),
      element(
        "p",
        {},
        access.file && access.line ? element("span", { class: "file" }, `${access.file}:${access.line}`) : null,
        " ",
        access.ptx ? place(detail, access.ptx_line, `PTX ${access.ptx_line}: ${access.ptx}`) : null,
      ),
    ),
  );
  const values = Object.entries({ ...finding.params, ...finding.values });
  return element(
    "section",
    { class: `finding ${tone}` },
    element(
      "h2",
      {},
      element("span", { class: "icon", "aria-hidden": "true" }, icon),
      ` ${title(finding.kind)} ${finding.code.replace("possible-", "")}${where}`,
      element(
        "span",
        { class: "certainty" },
        finding.confirmed ? "shown by an execution" : "not shown by an execution: may be a false alarm",
      ),
    ),
    element("div", { class: "accesses" }, accesses),
    values.length
      ? element(
          "p",
          {},
          "With ",
          values.map(([name, value]) => element("code", { class: "value" }, `${name} = ${value}`)),
        )
      : null,
    finding.message ? element("p", {}, title(finding.message)) : null,
    finding.waits?.length ? waits(detail, finding) : null,
    finding.help ? element("p", { class: "help" }, element("b", {}, "Help: "), finding.help) : null,
    finding.replay ? [element("p", { class: "label" }, "Replay without a GPU"), command(finding.replay)] : null,
  );
}

/** Who waits for whom, with a button for each instruction. */
function waits(detail, finding) {
  return element(
    "ol",
    { class: "waits", "aria-label": finding.cycle ? "These wait for each other" : "Who waits for whom" },
    finding.waits.map((one) => element("li", {}, title(one.text), " ", place(detail, one.ptx_line, `PTX ${one.ptx_line}: ${one.ptx}`))),
  );
}

function bullets(heading, texts) {
  return texts?.length
    ? element(
        "div",
        { class: "bullets" },
        element("h3", {}, heading),
        element(
          "ul",
          {},
          texts.map((text) => element("li", {}, text)),
        ),
      )
    : null;
}

const CHECKED = [
  ["accesses", "access", "accesses"],
  ["pairs_same_block", "pair within a block", "pairs within a block"],
  ["pairs_different_blocks", "pair across blocks", "pairs across blocks"],
  ["barriers", "barrier"],
  ["loops", "loop"],
  ["assertions", "assertion"],
  ["rules", "rule"],
];

/** The finding first; then on what the verdict rests. */
function head(kernel, detail) {
  const report = kernel.json;
  const findings = (report.findings ?? []).map((finding) => findingCard(detail, finding));
  const reasons = (report.reasons ?? []).map((reason) =>
    element(
      "li",
      {},
      `${reason.message} `,
      reason.ptx_line ? place(detail, reason.ptx_line, `PTX ${reason.ptx_line}`) : null,
    ),
  );
  const checked = CHECKED.filter(([name]) => report.checked?.[name] > 0).map(([name, one, many]) =>
    plural(report.checked[name], one, many),
  );
  return [
    reasons.length
      ? element(
          "section",
          { class: "finding open" },
          element("h2", {}, "Why there is no answer"),
          element("ul", {}, reasons),
        )
      : null,
    findings.slice(0, 2),
    findings.length > 2
      ? element(
          "details",
          {},
          element("summary", {}, plural(findings.length - 2, "further finding")),
          findings.slice(2),
        )
      : null,
    element(
      "section",
      { class: "basis", "aria-label": "What the verdict rests on" },
      bullets("Only when", report.conditions),
      bullets("Assumptions", report.assumptions),
      bullets("Checked", checked),
      bullets("Next", report.next ? [report.next] : []),
    ),
  ];
}
