// What stands behind one comparison, and what was measured in all.

import {
  type Data,
  type State,
  compared,
  costs,
  intervalText,
  known,
  numberText,
  percentText,
  ratioText,
  verdictMarks,
  verdicts,
} from "./data";
import { slices } from "./charts";
import { h } from "./dom";
import { broken, cpuWords } from "./heat";

export function detail(data: Data, state: State, close: () => void): HTMLElement | null {
  if (state.focus === null || state.focus.target === state.base) return null;
  const { benchmark, target } = state.focus;
  const c = compared(data, state.base, benchmark, target);
  if (c === null) return null;
  const cpu = c.cpu.verdict < 0 ? "" : `: ${cpuWords[c.cpu.verdict]}`;
  const facts: [string, string][] = [
    ["QPS ratio", `${ratioText(c.qps.ratio)}, interval ${intervalText(c.qps)}`],
    [
      "server CPU by statement",
      known(c.cpu.ratio) ? `${ratioText(c.cpu.ratio)} of the base, interval ${intervalText(c.cpu)}${cpu}` : "unknown",
    ],
    ["instances", `${c.instances}${c.voidSlices > 0 ? `, ${c.voidSlices} void slices` : ""}`],
  ];
  if (known(c.detectable)) facts.push(["smallest effect that so many could show", percentText(c.detectable).slice(1)]);
  if (c.reason !== "") facts.push(["why", c.reason]);
  for (const warning of c.warnings) facts.push(["warning", warning]);
  const list = h("dl", {}, ...facts.flatMap(([name, text]) => [h("dt", {}, name), h("dd", {}, text)]));
  return h(
    "aside",
    { class: "detail", "aria-label": "one comparison", tabindex: -1, id: "detail" },
    h("button", { type: "button", class: "close", click: close, "aria-label": "close (Escape)" }, "×"),
    h("h3", {}, data.benchmarks[benchmark].label),
    h(
      "p",
      { class: "what" },
      h("span", { class: `word ${verdicts[c.qps.verdict]}` }, `${verdictMarks[c.qps.verdict]} ${verdicts[c.qps.verdict]}`),
      ` ${data.targets[target].name} against ${data.targets[state.base].name}`,
    ),
    data.benchmarks[benchmark].about === "" ? null : h("p", { class: "about" }, data.benchmarks[benchmark].about),
    list,
    costTable(data, state.base, target, benchmark),
    slices(data, state.base, target, benchmark),
  );
}

/** What an operation cost on base and target, with the ratio. */
function costTable(data: Data, base: number, target: number, benchmark: number): HTMLElement {
  const left = data.costs[benchmark][base];
  const right = data.costs[benchmark][target];
  const body = h("tbody");
  costs.forEach((cost, i) => {
    const [a, b] = [left?.[i], right?.[i]];
    if (!known(a) && !known(b)) return;
    body.append(
      h(
        "tr",
        {},
        h("th", { scope: "row", "data-tip": cost.about }, cost.name),
        h("td", { class: "number" }, numberText(a)),
        h("td", { class: "number" }, numberText(b)),
        h("td", { class: "number" }, known(a) && known(b) && a > 0 ? ratioText(b / a) : "–"),
      ),
    );
  });
  return h(
    "table",
    { class: "costs" },
    h(
      "thead",
      {},
      h(
        "tr",
        {},
        h("th", {}, "medians"),
        h("th", { scope: "col" }, "base"),
        h("th", { scope: "col" }, "target"),
        h("th", { scope: "col" }, "ratio"),
      ),
    ),
    body,
  );
}

/** One kind of cost for every benchmark and target. */
export function hardware(data: Data, state: State, list: number[], kind: number): HTMLElement {
  const body = h("tbody");
  for (const benchmark of list) {
    const base = data.costs[benchmark][state.base]?.[kind];
    const row = h("tr", {}, h("th", { scope: "row", class: "name" }, data.benchmarks[benchmark].label));
    data.targets.forEach((_, target) => {
      const value = data.costs[benchmark][target]?.[kind];
      const ratio = known(value) && known(base) && base > 0 && target !== state.base ? ratioText(value / base) : "";
      row.append(h("td", { class: "number" }, numberText(value), ratio === "" ? null : h("span", { class: "beside" }, ratio)));
    });
    body.append(row);
  }
  return h(
    "div",
    { class: "scroll" },
    h(
      "table",
      { class: "heat" },
      h(
        "thead",
        {},
        h(
          "tr",
          {},
          h("th", { scope: "col", class: "name" }, "benchmark"),
          ...data.targets.map((t) => h("th", { scope: "col" }, ...broken(t.name))),
        ),
      ),
      body,
    ),
  );
}

const mostTrials = 500;

/** The slices as they were measured; made when somebody opens it. */
export function rawTrials(data: Data): HTMLElement {
  const t = data.trials;
  const count = t.benchmark?.length ?? 0;
  const body = h("tbody");
  const shown = h("p", { class: "none", role: "status" });
  const fill = (words: string): void => {
    body.replaceChildren();
    let found = 0;
    for (let i = 0; i < count; i++) {
      const fields = [data.benchmarks[t.benchmark![i]].label, data.targets[t.target[i]].name, data.texts[t.void[i]]];
      if (words !== "" && !fields.some((f) => f.toLowerCase().includes(words))) continue;
      found++;
      if (found > mostTrials) continue;
      body.append(
        h(
          "tr",
          { class: fields[2] === "" ? "" : "void" },
          h("th", { scope: "row" }, fields[0]),
          h("td", {}, fields[1]),
          h("td", { class: "number" }, String(t.instance[i] + 1)),
          h("td", { class: "number" }, String(t.block[i] + 1)),
          h("td", { class: "number" }, numberText(t.seconds[i])),
          h("td", { class: "number" }, numberText(t.qps[i])),
          h("td", { class: "number" }, numberText(t.cpuUs[i])),
          h("td", { class: "number" }, numberText(t.p95Ms[i])),
          h("td", {}, fields[2]),
        ),
      );
    }
    shown.textContent = found > mostTrials ? `the first ${mostTrials} of ${found} slices; type to find others` : `${found} slices`;
  };
  const search = h("input", {
    type: "search",
    placeholder: "benchmark, target or reason",
    input: () => fill(search.value.trim().toLowerCase()),
  });
  const titles = ["benchmark", "target", "instance", "block", "second of the run", "QPS", "server CPU µs/op", "p95 ms", "void because"];
  const details = h(
    "details",
    {},
    h("summary", {}, `all ${count} slices`),
    h("label", { class: "choice" }, h("span", {}, "find"), search),
    shown,
    h("div", { class: "scroll" }, h("table", {}, h("thead", {}, h("tr", {}, ...titles.map((x) => h("th", { scope: "col" }, x)))), body)),
  );
  details.addEventListener("toggle", () => {
    if (details.open && body.childElementCount === 0) fill("");
  });
  return details;
}
