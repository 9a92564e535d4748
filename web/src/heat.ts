// The table of benchmarks by targets.

import {
  type Comparison,
  type Data,
  type State,
  compared,
  intervalText,
  known,
  numberText,
  ratioText,
  rows,
  verdictMarks,
  verdicts,
} from "./data";
import { h } from "./dom";

/** What verdicts about server CPU are called, and their marks, in the order of the verdicts. */
export const cpuWords = ["costs more", "costs less", "same", "inconclusive"] as const;
export const cpuMarks = ["▲", "▼", "=", "?"] as const;

/** The colour of a ratio comes with its verdict, and is the stronger the further it is from 1. */
function strength(ratio: number | null): string {
  if (!known(ratio) || ratio <= 0) return "";
  const distance = Math.min(1, Math.abs(Math.log(ratio)) / Math.log(1.5));
  return `--strength: ${(18 + 62 * distance).toFixed(0)}%`;
}

function tipText(data: Data, benchmark: number, target: number, c: Comparison): string {
  return [
    `${data.benchmarks[benchmark].label} on ${data.targets[target].name}: ${verdicts[c.qps.verdict]}`,
    `QPS ratio ${ratioText(c.qps.ratio)}, interval ${intervalText(c.qps)}`,
    known(c.cpu.ratio) ? `server CPU by statement ${ratioText(c.cpu.ratio)}, interval ${intervalText(c.cpu)}` : "",
    c.reason,
    ...c.warnings.map((warning) => `! ${warning}`),
  ]
    .filter((line) => line !== "")
    .join("\n");
}

function cellOf(data: Data, state: State, benchmark: number, target: number, open: () => void): HTMLElement {
  if (state.metric === "absolute") return h("td", { class: "number" }, numberText(data.costs[benchmark][target]?.[0]));
  if (target === state.base) return h("td", { class: "base" }, "1");
  const c = compared(data, state.base, benchmark, target);
  if (c === null) return h("td", { class: "none" }, "–");
  const cpu = state.metric === "cpu";
  const shown = cpu ? c.cpu : c.qps;
  const word = shown.verdict < 0 ? "unknown" : (cpu ? cpuWords : verdicts)[shown.verdict];
  const focused = state.focus?.benchmark === benchmark && state.focus.target === target;
  const button = h(
    "button",
    {
      type: "button",
      class: "cell",
      click: open,
      "data-tip": tipText(data, benchmark, target, c),
      "aria-pressed": String(focused),
      tabindex: -1,
      "data-cell": `${benchmark} ${target}`,
      "aria-label": `${data.benchmarks[benchmark].label}, ${data.targets[target].name}: ${word}, ${ratioText(shown.ratio)}`,
    },
    h("span", { class: "mark" }, shown.verdict < 0 ? "" : (cpu ? cpuMarks : verdictMarks)[shown.verdict]),
    h("span", { class: "value" }, ratioText(shown.ratio)),
  );
  if (!cpu && known(c.cpu.ratio)) button.append(h("span", { class: "beside" }, `cpu ${ratioText(c.cpu.ratio)}`));
  if (c.warnings.length > 0) button.append(h("span", { class: "warned" }, "!"));
  const td = h("td", { class: `verdict ${verdicts[shown.verdict] ?? ""}` }, button);
  td.setAttribute("style", strength(shown.ratio));
  return td;
}

function heading(data: Data, state: State, update: (change: Partial<State>) => void): HTMLElement {
  const sortBy = (target: number) => () => {
    const same = state.sort?.target === target;
    update({ sort: same && state.sort?.down ? null : { target, down: same } });
  };
  const row = h(
    "tr",
    {},
    h(
      "th",
      { scope: "col", class: "name" },
      h(
        "button",
        {
          type: "button",
          click: () => update({ sort: null }),
          "aria-label": "benchmark: the order of the suite",
          "data-tip": "the order of the suite",
        },
        "benchmark",
      ),
    ),
  );
  data.targets.forEach((target, i) => {
    const sorted = state.sort?.target === i;
    const order = sorted ? (state.sort?.down ? "descending" : "ascending") : "none";
    row.append(
      h(
        "th",
        { scope: "col", class: i === state.base ? "base" : "", "aria-sort": order },
        h(
          "button",
          {
            type: "button",
            click: sortBy(i),
            "aria-label": `sort by ${target.name}`,
            "data-tip": `sort by ${target.name} (${target.version})`,
          },
          ...broken(target.name),
          sorted ? (state.sort?.down ? " ↓" : " ↑") : "",
        ),
      ),
    );
  });
  return row;
}

/** Arrow keys go from cell to cell; Tab goes into the table and out of it. */
function arrows(body: HTMLElement): void {
  const first = body.querySelector<HTMLElement>("button.cell[aria-pressed=true], button.cell");
  if (first) first.tabIndex = 0;
  body.addEventListener("keydown", (event) => {
    const from = document.activeElement?.closest("td");
    const row = from?.parentElement;
    if (!from || !row) return;
    const column = [...row.children].indexOf(from);
    const next = (
      step: "nextElementSibling" | "previousElementSibling",
      element: Element,
      pick: (e: Element) => Element | undefined,
    ): HTMLElement | null => {
      for (let at = element[step]; at; at = at[step]) {
        const button = pick(at)?.querySelector<HTMLElement>("button.cell");
        if (button) return button;
      }
      return null;
    };
    const moves: Record<string, () => HTMLElement | null> = {
      ArrowLeft: () => next("previousElementSibling", from, (e) => e),
      ArrowRight: () => next("nextElementSibling", from, (e) => e),
      ArrowUp: () => next("previousElementSibling", row, (e) => e.children[column]),
      ArrowDown: () => next("nextElementSibling", row, (e) => e.children[column]),
    };
    const to = moves[event.key]?.();
    if (!to) return;
    event.preventDefault();
    (document.activeElement as HTMLElement).tabIndex = -1;
    to.tabIndex = 0;
    to.focus();
  });
}

export function heatTable(data: Data, state: State, update: (change: Partial<State>) => void): HTMLElement {
  const columns = data.targets.length + 1;
  const body = h("tbody");
  let group = "";
  for (const benchmark of rows(data, state)) {
    const of = data.benchmarks[benchmark];
    if (state.sort === null && of.group !== group && of.group !== "") {
      group = of.group;
      body.append(h("tr", { class: "group" }, h("th", { scope: "rowgroup", colspan: columns }, group)));
    }
    const name = h("th", { scope: "row", class: "name" }, of.label);
    if (of.about !== "") name.setAttribute("data-tip", of.about);
    body.append(
      h(
        "tr",
        {},
        name,
        ...data.targets.map((_, target) => cellOf(data, state, benchmark, target, () => update({ focus: { benchmark, target } }))),
      ),
    );
  }
  if (body.childElementCount === 0)
    body.append(h("tr", {}, h("td", { colspan: columns, class: "none" }, "no benchmark is left by the filters")));
  arrows(body);
  return h(
    "div",
    { class: "scroll", role: "region", "aria-label": "benchmarks by targets" },
    h("table", { class: "heat" }, h("thead", {}, heading(data, state, update)), body),
  );
}

/** What targets did in each group, for the base that is shown: the median of the ratios and the worst verdict. */
export function groupTable(data: Data, state: State): HTMLElement {
  const of = data.bases[state.base].groups;
  const targets = data.targets.map((_, i) => i).filter((i) => i !== state.base);
  const body = h("tbody");
  for (const name of [...new Set(of.map((g) => g.group))].sort((a, b) => Number(a === "") - Number(b === ""))) {
    const row = h(
      "tr",
      { class: name === "" ? "whole" : "" },
      h("th", { scope: "row", class: "name" }, name === "" ? "whole suite" : name),
    );
    for (const target of targets) {
      const g = of.find((one) => one.group === name && one.target === target);
      if (g === undefined) {
        row.append(h("td", { class: "none" }, "–"));
        continue;
      }
      const counts = g.counts
        .map((n, v) => (n > 0 ? `${n} ${verdicts[v]}` : ""))
        .filter((x) => x !== "")
        .join(", ");
      row.append(
        h(
          "td",
          {
            class: `summed verdict ${verdicts[g.verdict]}`,
            "data-tip": `${counts}\nmin ${ratioText(g.min)}, median ${ratioText(g.median)}, average ${ratioText(g.avg)}, max ${ratioText(g.max)}`,
          },
          h("span", { class: "mark" }, verdictMarks[g.verdict]),
          ` ${ratioText(g.median)} `,
          h("span", { class: "beside" }, `${ratioText(g.min)}–${ratioText(g.max)}`),
          h("span", { class: "beside" }, counts),
        ),
      );
    }
    body.append(row);
  }
  return h(
    "div",
    { class: "scroll", tabindex: 0, role: "region", "aria-label": "groups by targets" },
    h(
      "table",
      { class: "heat" },
      h(
        "thead",
        {},
        h(
          "tr",
          {},
          h("th", { scope: "col", class: "name" }, "group"),
          ...targets.map((i) => h("th", { scope: "col" }, ...broken(data.targets[i].name))),
        ),
      ),
      body,
    ),
  );
}

/** A name that may be broken where its parts end. */
export function broken(name: string): (string | Node)[] {
  return name.split(/(?<=[@+/:,])/).flatMap((part, i) => (i === 0 ? [part] : [h("wbr"), part]));
}
