// The table of benchmarks by targets.

import { type Cell, type Data, type State, known, numberText, ratioText, rows, verdictMarks, verdicts } from "./data";
import { h } from "./dom";

/** The colour of a ratio: by its verdict, the stronger the further it is from 1. */
function shade(cell: Cell, value: number | null): string {
  if (!known(value) || cell[0] > 1) return "";
  const distance = Math.min(1, Math.abs(Math.log(value)) / Math.log(1.5));
  return `--strength: ${(18 + 62 * distance).toFixed(0)}%`;
}

function tooltip(data: Data, benchmark: number, target: number, cell: Cell): string {
  const parts = [
    `${data.targets[target].name}, ${data.benchmarks[benchmark].label}: ${verdicts[cell[0]]}`,
    `QPS ratio ${ratioText(cell[1])} (${ratioText(cell[2])} to ${ratioText(cell[3])})`,
  ];
  if (known(cell[4])) parts.push(`server CPU by statement ${ratioText(cell[4])} of the base`);
  if (data.texts[cell[10]] !== "") parts.push(data.texts[cell[10]]);
  return parts.join("\n");
}

function cellOf(data: Data, state: State, benchmark: number, target: number, open: () => void): HTMLElement {
  const cell = data.bases[state.base].cells[benchmark][target];
  if (state.metric === "absolute") return h("td", { class: "number" }, numberText(data.costs[benchmark][target]?.[0]));
  if (target === state.base) return h("td", { class: "base" }, "1");
  if (cell === null) return h("td", { class: "none", title: "not measured" }, "–");
  const value = state.metric === "qps" ? cell[1] : cell[4];
  const focused = state.focus?.benchmark === benchmark && state.focus.target === target;
  const button = h("button", {
    type: "button", class: "cell", click: open, title: tooltip(data, benchmark, target, cell), "aria-pressed": String(focused),
    "aria-label": `${data.benchmarks[benchmark].label}, ${data.targets[target].name}: ${verdicts[cell[0]]}, ${ratioText(value)}`,
  }, h("span", { class: "mark", "aria-hidden": "true" }, verdictMarks[cell[0]]), h("span", { class: "value" }, ratioText(value)));
  if (state.metric === "qps" && known(cell[4])) button.append(h("span", { class: "beside" }, `cpu ${ratioText(cell[4])}`));
  const td = h("td", { class: `verdict ${verdicts[cell[0]]}` }, button);
  if (cell.length > 11) button.append(h("span", { class: "warned", "aria-label": "with warnings" }, "!"));
  td.setAttribute("style", shade(cell, cell[1]));
  return td;
}

export function heatTable(data: Data, state: State, update: (change: Partial<State>) => void): HTMLElement {
  const shown = data.targets.map((_, i) => i);
  const sortBy = (target: number | null) => () => {
    if (target === null) return update({ sort: null });
    const same = state.sort?.target === target;
    update({ sort: same && state.sort?.down ? null : { target, down: same } });
  };
  const head = h("tr", {}, h("th", { scope: "col", class: "name", "aria-sort": state.sort === null ? "other" : "none" },
    h("button", { type: "button", click: sortBy(null), title: "the order of the suite" }, "benchmark")));
  for (const target of shown) {
    const sorted = state.sort?.target === target;
    head.append(h("th", { scope: "col", class: target === state.base ? "base" : "", "aria-sort": sorted ? (state.sort?.down ? "descending" : "ascending") : "none" },
      h("button", { type: "button", click: sortBy(target), title: `sort by ${data.targets[target].name} (${data.targets[target].version})` },
        ...broken(data.targets[target].name), sorted ? (state.sort?.down ? " ↓" : " ↑") : "")));
  }
  const body = h("tbody");
  let group: string | null = null;
  for (const benchmark of rows(data, state)) {
    const of = data.benchmarks[benchmark];
    if (state.sort === null && of.group !== group && of.group !== "") {
      group = of.group;
      body.append(h("tr", { class: "group" }, h("th", { scope: "rowgroup", colspan: shown.length + 1 }, group)));
    }
    const row = h("tr", {}, h("th", { scope: "row", class: "name", title: of.about }, of.label));
    for (const target of shown) {
      row.append(cellOf(data, state, benchmark, target, () => update({ focus: { benchmark, target } })));
    }
    body.append(row);
  }
  if (body.childElementCount === 0) body.append(h("tr", {}, h("td", { colspan: shown.length + 1, class: "none" }, "no benchmark is left by the filters")));
  return h("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": "benchmarks by targets" }, h("table", { class: "heat" }, h("thead", {}, head), body));
}

/** What targets did in each group, for the base that is shown: the median of the ratios and the worst verdict. */
export function groupTable(data: Data, state: State): HTMLElement {
  const of = data.bases[state.base].groups;
  const targets = data.targets.map((_, i) => i).filter((i) => i !== state.base);
  const body = h("tbody");
  for (const name of [...new Set(of.map((g) => g.group))].sort((a, b) => Number(a === "") - Number(b === ""))) {
    const row = h("tr", { class: name === "" ? "whole" : "" }, h("th", { scope: "row", class: "name" }, name === "" ? "whole suite" : name));
    for (const target of targets) {
      const g = of.find((one) => one.group === name && one.target === target);
      if (g === undefined) {
        row.append(h("td", { class: "none" }, "–"));
        continue;
      }
      const counts = g.counts.map((n, v) => (n > 0 ? `${n} ${verdicts[v]}` : "")).filter((x) => x !== "").join(", ");
      row.append(h("td", { class: `summed verdict ${verdicts[g.verdict]}`, title: `${counts}\nmin ${ratioText(g.min)}, median ${ratioText(g.median)}, average ${ratioText(g.avg)}, max ${ratioText(g.max)}` },
        h("span", { class: "mark" }, verdictMarks[g.verdict]), ` ${ratioText(g.median)} `, h("span", { class: "beside" }, `${ratioText(g.min)} – ${ratioText(g.max)}`), h("span", { class: "beside" }, counts)));
    }
    body.append(row);
  }
  return h("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": "groups by targets" },
    h("table", { class: "heat" }, h("thead", {}, h("tr", {}, h("th", { scope: "col", class: "name" }, "group"), ...targets.map((i) => h("th", { scope: "col" }, ...broken(data.targets[i].name))))), body));
}

/** A name that may be broken where its parts end. */
export function broken(name: string): (string | Node)[] {
  return name.split(/(?<=[@+/:,])/).flatMap((part, i) => (i === 0 ? [part] : [h("wbr"), part]));
}
