// The page of the HTML report: it reads the data that lies in it and draws every part of it.

import { type Data, type Difference, type State, costs, groups, known, percentText, rows, verdictMarks, verdicts } from "./data";
import { intervals, lines } from "./charts";
import { detail, hardware, rawTrials } from "./detail";
import { choice, h, section } from "./dom";
import { broken, cpuMarks, cpuWords, groupTable, heatTable } from "./heat";
import { printing } from "./print";
import { type Picked, profiles } from "./profile";
import { tooltips } from "./tip";

const data = JSON.parse(document.getElementById("data")?.textContent ?? "") as Data;
const page = document.getElementById("report") as HTMLElement;

let state: State = {
  base: data.shown[0] ?? 0,
  metric: "qps",
  group: "",
  verdict: -1,
  search: "",
  sort: null,
  focus: null,
};
let intervalTarget = data.targets.findIndex((_, i) => i !== state.base);
/** The costs that were measured; of an import often none but the rate, which is no cost. */
const measured = costs
  .map((cost, i) => ({ value: String(i), text: cost.name }))
  .filter(({ value }) => data.costs.some((row) => row.some((cost) => known(cost?.[Number(value)]))));
let costKind = Number(measured.find(({ value }) => value !== "0")?.value ?? 0);
const picked: Picked = { benchmark: 0, target: -1, view: "difference", sampler: "" };
let published = true;

const parts = {
  headline: h("div", { class: "headline" }),
  controls: h("div", { class: "controls" }),
  legend: h("p", { class: "legend" }),
  heat: h("div"),
  detail: h("div", { "aria-live": "polite" }),
  groups: h("div"),
  intervals: h("div"),
  lines: h("div"),
  hardware: h("div"),
  profiles: h("div"),
};

function update(change: Partial<State>): void {
  const closed = change.focus === null ? state.focus : null;
  state = { ...state, ...change };
  if (change.base !== undefined && intervalTarget === change.base) intervalTarget = data.targets.findIndex((_, i) => i !== change.base);
  const focused = document.activeElement?.getAttribute("aria-label") ?? "";
  draw();
  // The element that had the focus was drawn anew.
  if (change.focus) document.getElementById("detail")?.focus({ preventScroll: true });
  else if (closed) page.querySelector<HTMLElement>(`[data-cell="${closed.benchmark} ${closed.target}"]`)?.focus({ preventScroll: true });
  else if (focused !== "") page.querySelector<HTMLElement>(`[aria-label="${CSS.escape(focused)}"]`)?.focus({ preventScroll: true });
}

function draw(): void {
  drawHeadline();
  drawLegend();
  parts.heat.replaceChildren(heatTable(data, state, update));
  parts.detail.replaceChildren(...[detail(data, state, () => update({ focus: null }))].filter((x) => x !== null));
  parts.groups.replaceChildren(groupTable(data, state));
  drawIntervals();
  drawLines();
  drawHardware();
  drawProfiles();
}

function drawProfiles(): void {
  if (data.profiles.length > 0) parts.profiles.replaceChildren(...profiles(data, state, picked, drawProfiles));
}

function drawLegend(): void {
  const cpu = state.metric === "cpu";
  const words = (cpu ? cpuWords : verdicts).map((word, i) =>
    h("span", { class: `word ${verdicts[i]}` }, `${(cpu ? cpuMarks : verdictMarks)[i]} ${word}`),
  );
  const about = {
    qps: `QPS relative to the base, above 1 is faster; a change of ${percentText(data.minEffect).slice(1)} matters. cpu is server CPU by statement relative to the base. ! has warnings.`,
    cpu: `server CPU by statement relative to the base, below 1 costs less; a change of ${percentText(data.minEffect).slice(1)} matters. ! has warnings.`,
    absolute: "queries per second, median of the instances",
  };
  parts.legend.replaceChildren(...(state.metric === "absolute" ? [] : words), h("span", {}, about[state.metric]));
}

const mostSentences = 6;

function drawHeadline(): void {
  const sentences = (data.bases[state.base]?.headlines ?? []).map((text) => h("p", { class: "sentence" }, text));
  const more = sentences.slice(mostSentences);
  parts.headline.replaceChildren(
    ...data.notes.map((text) => h("p", { class: "note" }, text)),
    ...data.problems.map((text) => h("p", { class: "note problem" }, `problem: ${text}`)),
    ...sentences.slice(0, mostSentences),
    ...(more.length === 0 ? [] : [h("details", {}, h("summary", {}, `${more.length} more targets`), ...more)]),
    ...(data.shown.includes(state.base) || data.targets.length === 0
      ? []
      : [h("p", { class: "note" }, `Verdicts are those of a report whose only base is ${data.targets[state.base].name}.`)]),
  );
}

function drawControls(): void {
  const targets = data.targets.map((t, i) => ({ value: String(i), text: t.name }));
  const search = h("input", { type: "search", placeholder: "benchmark", input: () => update({ search: search.value.trim() }) });
  parts.controls.replaceChildren(
    choice("relative to", targets, String(state.base), (v) => update({ base: Number(v), sort: null, focus: null })),
    choice(
      "show",
      [
        { value: "qps", text: "QPS ratio" },
        { value: "cpu", text: "server CPU ratio" },
        { value: "absolute", text: "queries per second" },
      ],
      state.metric,
      (v) => update({ metric: v as State["metric"] }),
    ),
    choice("group", [{ value: "", text: "all" }, ...groups(data).map((g) => ({ value: g, text: g }))], state.group, (v) =>
      update({ group: v }),
    ),
    choice(
      "verdict",
      [{ value: "-1", text: "all" }, ...verdicts.map((v, i) => ({ value: String(i), text: v }))],
      String(state.verdict),
      (v) => update({ verdict: Number(v) }),
    ),
    h("label", { class: "choice" }, h("span", {}, "find"), search),
  );
}

function drawIntervals(): void {
  const others = data.targets.map((t, i) => ({ value: String(i), text: t.name })).filter((o) => Number(o.value) !== state.base);
  if (others.length === 0) return;
  parts.intervals.replaceChildren(
    choice("target", others, String(intervalTarget), (v) => {
      intervalTarget = Number(v);
      drawIntervals();
    }),
    intervals(data, state, intervalTarget, update),
  );
}

function drawLines(): void {
  parts.lines.replaceChildren();
  if (data.lines.length === 0) return;
  const box = h("input", {
    type: "checkbox",
    change: () => {
      published = box.checked;
      drawLines();
    },
  });
  box.checked = published;
  parts.lines.append(h("label", { class: "choice" }, box, h("span", {}, "axis from 0.70, as published")));
  for (const line of data.lines) parts.lines.append(h("h3", {}, line.name), lines(data, state, line, published));
}

function drawHardware(): void {
  parts.hardware.replaceChildren(
    choice("cost", measured, String(costKind), (v) => {
      costKind = Number(v);
      drawHardware();
    }),
    hardware(data, state, rows(data, { ...state, sort: null, verdict: -1 }), costKind),
  );
}

/** What was measured, on what, and how: it does not change with what the reader chooses. */
function circumstances(): HTMLElement[] {
  const targets = h(
    "div",
    { class: "scroll" },
    h(
      "table",
      {},
      h("thead", {}, h("tr", {}, ...["target", "version", "provider", "origin", "checksum", ""].map((x) => h("th", { scope: "col" }, x)))),
      h(
        "tbody",
        {},
        ...data.targets.map((t) =>
          h(
            "tr",
            {},
            h("th", { scope: "row" }, t.name),
            h("td", {}, t.version),
            h("td", {}, t.provider),
            h("td", {}, t.origin),
            h("td", {}, h("code", {}, t.checksum)),
            h("td", {}, t.dropped === "" ? "" : `dropped: ${t.dropped}`),
          ),
        ),
      ),
    ),
  );
  const how = h(
    "dl",
    {},
    ...(data.facts ?? []).flatMap(([name, text]) => [h("dt", {}, name), h("dd", {}, text)]),
    ...data.missing.flatMap(([target, probe, reason]) => [
      h("dt", {}, `not probed: ${probe}`),
      h("dd", {}, target === "" ? reason : `${target}: ${reason}`),
    ]),
  );
  const list = [section("targets", "Targets", targets), section("how", "How it was measured", how)];
  if (data.differences.length > 0) list.push(section("settings", "Settings that differ", differences(data.differences, "setting")));
  if (data.builds.length > 0) list.push(section("builds", "How the builds differ", differences(data.builds, "part")));
  list.push(section("trials", "Every slice", rawTrials(data)));
  return list;
}

function differences(list: Difference[], what: string): HTMLElement {
  const body = h(
    "tbody",
    {},
    ...list.map((d) =>
      h(
        "tr",
        { class: d.chosen ? "chosen" : "" },
        h("th", { scope: "row" }, d.name),
        ...d.values.map((v) => h("td", {}, v === null ? h("span", { class: "none" }, "none") : h("code", {}, v))),
      ),
    ),
  );
  const chosen = list.filter((d) => d.chosen).length;
  const details = h(
    "details",
    {},
    h("summary", {}, `${list.length} ${what}${list.length === 1 ? "" : "s"}${chosen > 0 ? `, ${chosen} of them chosen` : ""}`),
    h(
      "div",
      { class: "scroll", tabindex: 0, role: "region", "aria-label": `${what}s by target` },
      h(
        "table",
        {},
        h(
          "thead",
          {},
          h("tr", {}, h("th", { scope: "col" }, what), ...data.targets.map((t) => h("th", { scope: "col" }, ...broken(t.name)))),
        ),
        body,
      ),
    ),
  );
  details.open = list.length <= 20;
  return details;
}

function start(): void {
  const run = data.run;
  page.append(
    h(
      "header",
      {},
      h("p", { class: "program" }, `dbcanary ${run.program}, run ${run.id} (${run.uid}), ${run.started}, ${run.state}`),
      h("h1", {}, data.title),
      parts.headline,
    ),
  );
  if (data.targets.length > 0 && data.benchmarks.length > 0) {
    page.append(section("verdicts", "Verdicts", parts.controls, parts.legend, parts.heat, parts.detail));
    page.append(section("groups", "By group", parts.groups));
    page.append(section("intervals", "Intervals", parts.intervals));
    if (data.lines.length > 0) page.append(section("lines", "Over versions", parts.lines));
    if (costKind > 0) page.append(section("hardware", "What an operation cost", parts.hardware));
    if (data.profiles.length > 0) page.append(section("profiles", "Where time went", parts.profiles));
    drawControls();
    draw();
  } else drawHeadline();
  page.append(...circumstances());
  document.addEventListener("keydown", (event) => {
    if (event.key === "Escape" && state.focus !== null) update({ focus: null });
  });
}

start();
tooltips();
printing();
