// The HTML report, part 1 of 5: elements, verdicts, and texts whose lines can be selected. The parts are one module (page.html).

/** A new element. Attributes that are null or false are left out; `on...` are handlers; children may be texts. */
function element(tag, attributes = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith("on")) made.addEventListener(name.slice(2), value);
    else if (value !== null && value !== undefined && value !== false)
      made.setAttribute(name, value === true ? "" : value);
  }
  made.append(...children.flat(Infinity).filter((child) => child !== null && child !== undefined && child !== false));
  return made;
}

const plural = (count, one, many = `${one}s`) => `${count} ${count === 1 ? one : many}`;
const title = (text) => text.charAt(0).toUpperCase() + text.slice(1);
const triple = (index) => `(${index.join(",")})`;

function badge(verdict) {
  const { icon, tone } = verdictLook(verdict);
  return element("span", { class: `badge ${tone}` }, element("span", { "aria-hidden": "true" }, icon), ` ${verdict}`);
}

/** A command with a button that copies it; where the browser does not let us, it is selected instead. */
function command(text) {
  const code = element("code", {}, text);
  const said = element("span", { role: "status", class: "said" });
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(text);
      said.textContent = "copied";
    } catch {
      getSelection().selectAllChildren(code);
      said.textContent = "selected";
    }
  };
  return element("div", { class: "command" }, code, element("button", { type: "button", onclick: copy }, "Copy"), said);
}

/** Moves a container so that a child can be seen, and nothing else of the page. */
function reveal(container, child) {
  const top = child.offsetTop;
  if (top < container.scrollTop || top + child.offsetHeight > container.scrollTop + container.clientHeight)
    container.scrollTop = Math.max(0, top - container.clientHeight / 3);
}

/** What a verdict looks like: never told by the colour alone. */
const VERDICTS = {
  verified: { icon: "✓", tone: "good" },
  "verified-when": { icon: "✓", tone: "limited" },
  "no-defect": { icon: "○", tone: "limited" },
  unknown: { icon: "?", tone: "open" },
  unsupported: { icon: "–", tone: "open" },
};
const verdictLook = (verdict) =>
  VERDICTS[verdict] ?? (verdict.startsWith("possible-") ? { icon: "!", tone: "possible" } : { icon: "✗", tone: "bad" });
/** The worst first: the kernel that is opened where the address names none. */
const TONES = ["bad", "possible", "open", "limited", "good"];

// ---------------------------------------------------------------------------------------------------- code

const WORDS = {
  ptx: /^(?:\.[\w.]+|@!?%\w+)$/,
  cuda: /^(?:__\w+__|extern|const|static|struct|template|typename|unsigned|signed|int|float|double|char|short|long|bool|void|if|else|for|while|do|return|break|continue|switch|case|default|auto|sizeof)$/,
  ivl: /^(?:procedure|function|var|const|requires|ensures|modifies|invariant|assert|assume|assert|havoc|goto|call|if|then|else|return|returns|while|axiom|type|shared|global|forall|exists|true|false|entry|kernel|loop)$/,
};
/** Comments, texts, registers, directives, words, and numbers; all else is between them. */
const TOKENS =
  /(\/\/.*|\/\*.*?(?:\*\/|$))|("(?:[^"\\]|\\.)*")|(@!?%[\w$.]+|%[\w$.]+)|(\.[a-z]\w*)|([A-Za-z_$][\w$.!@]*)|(\b(?:0[xX][0-9a-fA-F]+|0[fFdD][0-9a-fA-F]+|\d+(?:\.\d+)?)\b)/g;

/** A line as texts and coloured parts. */
function coloured(line, language) {
  const words = WORDS[language] ?? WORDS.ivl;
  const parts = [];
  let from = 0;
  for (const match of line.matchAll(TOKENS)) {
    const [text, comment, string, register, directive, word, number] = match;
    const kind = comment
      ? "comment"
      : string
        ? "string"
        : register
          ? "register"
          : directive
            ? language === "ptx"
              ? "word"
              : null
            : word
              ? words.test(word)
                ? "word"
                : null
              : number
                ? "number"
                : null;
    if (!kind) continue;
    parts.push(line.slice(from, match.index), element("span", { class: kind }, text));
    from = match.index + text.length;
  }
  return [...parts, line.slice(from)];
}

/**
 * Arrow keys in a list of which one thing at a time is the current one (role listbox). `next(from, by)` is the index to go
 * to, or -1; `choose(index)` goes there.
 */
function arrows(list, count, next, choose) {
  let current = -1;
  const go = (index) => index >= 0 && choose(index);
  list.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.altKey || event.metaKey) return;
    if (event.key === "ArrowDown") go(next(current, 1));
    else if (event.key === "ArrowUp") go(next(current < 0 ? count() : current, -1));
    else if (event.key === "Home") go(next(-1, 1));
    else if (event.key === "End") go(next(count(), -1));
    else return;
    event.preventDefault();
  });
  return (index) => {
    list.children[current]?.classList.remove("current");
    current = index;
    list.children[index]?.classList.add("current");
    if (list.children[index]) list.setAttribute("aria-activedescendant", list.children[index].id);
    else list.removeAttribute("aria-activedescendant");
  };
}

let views = 0;

/**
 * A text whose lines know from which instructions they come.
 *
 * @param of.lines   for each line its instructions
 * @param of.first   the number of the first line
 * @param of.defects for a line of the text, what goes wrong there (a map from indices)
 */
function codeView(of) {
  const id = `text-${views++}`;
  const texts = of.text.replace(/\n$/, "").split("\n");
  const list = element("ol", {
    class: "code",
    role: "listbox",
    tabindex: "0",
    "aria-label": of.label,
    "aria-multiselectable": "true",
  });
  let built = null;
  let own = false;
  const next = (from, by) => {
    for (let index = from + by; index >= 0 && index < texts.length; index += by)
      if (of.lines[index]?.length) return index;
    return -1;
  };
  const choose = (index) => {
    own = true;
    setCurrent(index);
    select(of.lines[index]);
    own = false;
    reveal(list, list.children[index]);
  };
  const setCurrent = arrows(list, () => texts.length, next, choose);
  list.addEventListener("click", (event) => {
    const line = event.target.closest("li");
    if (!line || String(getSelection()) !== "") return;
    const index = [...list.children].indexOf(line);
    if (of.lines[index]?.length) choose(index);
  });

  function build() {
    if (built) return;
    built = texts.map((text, index) => {
      const defect = of.defects?.get(index);
      const linked = Boolean(of.lines[index]?.length);
      return element(
        "li",
        {
          role: "option",
          id: `${id}-${index}`,
          "aria-selected": "false",
          "aria-disabled": !linked && "true",
          class: `${linked ? "linked" : ""}${defect ? " defect" : ""}`,
          title: defect,
          "data-line": of.first + index,
        },
        element("span", { class: "number" }, String(of.first + index)),
        element("span", { class: "sign", "aria-label": defect, role: defect && "img" }, defect ? "✗" : ""),
        element("code", {}, coloured(text, of.language)),
      );
    });
    list.append(...built);
    mark(new Set(state.instructions));
  }

  /** Marks the lines of these instructions; answers how many there are. */
  function mark(selected) {
    const marked = texts.flatMap((_, index) => (of.lines[index]?.some((one) => selected.has(one)) ? [index] : []));
    if (built) {
      const now = new Set(marked);
      for (const line of list.querySelectorAll(".marked")) {
        line.classList.remove("marked");
        line.setAttribute("aria-selected", "false");
      }
      for (const index of now) {
        built[index].classList.add("marked");
        built[index].setAttribute("aria-selected", "true");
      }
      if (!own) setCurrent(marked[0] ?? -1);
      if (marked.length && !own) reveal(list, built[marked[0]]);
    }
    return marked.length;
  }

  /** Shows the next marked line below the one that is current. */
  function following() {
    const marked = [...list.querySelectorAll(".marked")];
    if (!marked.length) return;
    const at = marked.findIndex((line) => line.classList.contains("current"));
    const line = marked[(at + 1) % marked.length];
    setCurrent(built.indexOf(line));
    list.scrollTop = Math.max(0, line.offsetTop - list.clientHeight / 3);
  }
  return { list, build, mark, following, reveal: (index) => built && reveal(list, built[index]) };
}
