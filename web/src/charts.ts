// Charts in SVG: intervals of one target, lines over versions, and the instances behind one comparison.

import {
  type Data,
  type Estimate,
  type Line,
  type State,
  compared,
  intervalText,
  known,
  percentText,
  ratioText,
  rows,
  verdicts,
} from "./data";
import { h, svg } from "./dom";

/** Round numbers that divide a range into about so many parts. */
export function ticks(low: number, high: number, parts: number): number[] {
  const rough = (high - low) / parts;
  if (!(rough > 0) || !Number.isFinite(rough)) return [low];
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 2.5, 5, 10].map((m) => m * power).find((s) => s >= rough) ?? power * 10;
  const list: number[] = [];
  for (let i = Math.ceil(low / step - 1e-9); i * step <= high + step * 1e-9; i++) list.push(i * step);
  return list;
}

function tickText(value: number): string {
  return String(Number(value.toPrecision(3)));
}

/** A range around values that holds 1 and has some air. */
function around(values: number[]): [number, number] {
  const low = Math.min(1, ...values);
  const high = Math.max(1, ...values);
  const air = Math.max(0.02, (high - low) * 0.06);
  return [Math.max(0, low - air), high + air];
}

const mostLetters = 44;

function cut(text: string, letters: number): string {
  return text.length > letters ? `${text.slice(0, letters - 1)}…` : text;
}

/** A dot with its interval for each benchmark of one target. */
export function intervals(data: Data, state: State, target: number, update: (change: Partial<State>) => void): HTMLElement {
  const of = (benchmark: number): Estimate | undefined => compared(data, state.base, benchmark, target)?.qps;
  const list = rows(data, { ...state, sort: null, verdict: -1 }).filter((i) => known(of(i)?.ratio));
  if (list.length === 0) return h("p", { class: "none" }, "nothing was measured of this target");
  const cap = (v: number): number => Math.min(v, 4);
  const values = list.map(of).flatMap((e) => [e!.ratio, e!.low, e!.high].filter(known).map(cap));
  const [low, high] = around(values);
  const labels = 14 + 7.6 * Math.min(mostLetters, Math.max(...list.map((i) => data.benchmarks[i].label.length)));
  const width = 980;
  const line = 22;
  const height = list.length * line + 46;
  const x = (v: number): number => labels + ((Math.min(Math.max(v, low), high) - low) / (high - low)) * (width - labels - 70);
  const chart = svg("svg", {
    viewBox: `0 0 ${width} ${height}`,
    class: "chart",
    role: "img",
    "aria-label": `QPS ratio of ${data.targets[target].name} with its interval, by benchmark`,
  });
  const effect = data.minEffect ?? 0;
  chart.append(
    svg(
      "rect",
      { x: x(1 - effect), y: 8, width: Math.max(0, x(1 + effect) - x(1 - effect)), height: height - 40, class: "band" },
      svg("title", {}, `within ${percentText(effect).slice(1)} of the base: does not matter`),
    ),
  );
  for (const tick of ticks(low, high, 8)) {
    chart.append(
      svg("line", { x1: x(tick), x2: x(tick), y1: 8, y2: height - 32, class: "grid" }),
      svg("text", { x: x(tick), y: height - 16, class: "tick", "text-anchor": "middle" }, tickText(tick)),
    );
  }
  chart.append(
    svg("line", { x1: x(1), x2: x(1), y1: 8, y2: height - 32, class: "one" }),
    svg(
      "text",
      { x: (labels + width - 70) / 2, y: height - 2, class: "tick", "text-anchor": "middle" },
      `QPS relative to ${data.targets[state.base].name}`,
    ),
  );
  list.forEach((benchmark, n) => {
    const estimate = of(benchmark)!;
    const y = 22 + n * line;
    const from = known(estimate.low) ? estimate.low : low;
    const to = known(estimate.high) ? estimate.high : high;
    chart.append(
      svg(
        "g",
        {
          class: `interval ${verdicts[estimate.verdict]}`,
          click: () => update({ focus: { benchmark, target } }),
          "data-tip": `${data.benchmarks[benchmark].label}: ${verdicts[estimate.verdict]}\n${ratioText(estimate.ratio)}, interval ${intervalText(estimate)}`,
        },
        svg("rect", { x: 0, y: y - 11, width, height: line, class: "hit" }),
        svg("text", { x: labels - 10, y: y + 4, "text-anchor": "end" }, cut(data.benchmarks[benchmark].label, mostLetters)),
        svg("line", { x1: x(from), x2: x(to), y1: y, y2: y, class: known(estimate.low) ? "whisker" : "whisker unknown" }),
        svg("circle", { cx: x(estimate.ratio!), cy: y, r: 4.5 }),
        svg("text", { x: width - 62, y: y + 4 }, ratioText(estimate.ratio)),
      ),
    );
  });
  return h("div", { class: "scroll" }, chart);
}

/** Small charts, one for each benchmark, over the versions of a line. */
export function lines(data: Data, state: State, line: Line, published: boolean): HTMLElement {
  const grid = h("div", { class: "small-charts" });
  for (const benchmark of rows(data, { ...state, sort: null, verdict: -1 }))
    grid.append(lineChart(data, state, line, benchmark, published));
  return grid;
}

function lineChart(data: Data, state: State, line: Line, benchmark: number, published: boolean): HTMLElement {
  const points = line.targets.map((target) => {
    const estimate = compared(data, state.base, benchmark, target)?.qps;
    return { target, estimate: estimate ?? { ratio: target === state.base ? 1 : null, low: null, high: null, verdict: -1 } };
  });
  const values = points
    .flatMap(({ estimate: e }) => [e.ratio, e.low, e.high])
    .filter(known)
    .map((v) => Math.min(v, 4));
  let [low, high] = around(values);
  if (published) low = Math.min(low, 0.7);
  const width = 300;
  const height = 168;
  const left = 38;
  const x = (i: number): number => left + ((width - left - 14) * (i + 0.5)) / points.length;
  const y = (v: number): number => 8 + (1 - (Math.min(Math.max(v, low), high) - low) / (high - low)) * (height - 52);
  const chart = svg("svg", {
    viewBox: `0 0 ${width} ${height}`,
    class: "chart",
    role: "img",
    "aria-label": `QPS ratio of ${data.benchmarks[benchmark].label} over versions`,
  });
  for (const tick of ticks(low, high, 4)) {
    chart.append(
      svg("line", { x1: left, x2: width - 8, y1: y(tick), y2: y(tick), class: "grid" }),
      svg("text", { x: left - 5, y: y(tick) + 4, class: "tick", "text-anchor": "end" }, tickText(tick)),
    );
  }
  chart.append(svg("line", { x1: left, x2: width - 8, y1: y(1), y2: y(1), class: "one" }));
  for (const change of line.changes.filter((c) => c.benchmark === benchmark)) {
    const at = line.targets.indexOf(change.target);
    const edge = (x(at) + x(Math.max(0, at - 1))) / 2;
    const late = at > points.length / 2; // there is more room for the text before it
    chart.append(
      svg(
        "g",
        {
          class: `change ${change.word} ${change.state}`,
          "data-tip": `${change.word} by ${percentText(change.relative).slice(1)} with ${data.targets[change.target].name} (${change.state})`,
        },
        svg("line", { x1: edge, x2: edge, y1: 6, y2: height - 42 }),
        svg(
          "text",
          { x: edge + (late ? -4 : 4), y: height - 46, "text-anchor": late ? "end" : "start" },
          `${percentText(change.relative)}${change.state === "suspect" ? " ?" : ""}`,
        ),
      ),
    );
  }
  const path = points.flatMap(({ estimate: e }, i) => (known(e.ratio) ? [`${x(i).toFixed(1)},${y(e.ratio).toFixed(1)}`] : [])).join(" ");
  chart.append(svg("polyline", { points: path, class: "line" }));
  // Targets without a version in their name, of an import or a path, are told by that of their build.
  const names = line.targets.map((target) => {
    const { name, version } = data.targets[target];
    return cut(name.includes("@") ? name.replace(/^[a-z]+@/, "") : version.split(" ").at(-1) || name, 11);
  });
  const every = Math.ceil((Math.max(...names.map((name) => name.length)) * 6.6) / (x(1) - x(0)));
  points.forEach((p, i) => {
    if (i % every === 0) chart.append(svg("text", { x: x(i), y: height - 26, class: "tick", "text-anchor": "middle" }, names[i]));
    const e = p.estimate;
    if (!known(e.ratio)) return;
    const verdict: string = verdicts[e.verdict] ?? "base";
    const tip = `${data.targets[p.target].name}: ${verdict}${verdict === "base" ? "" : `\n${ratioText(e.ratio)}, interval ${intervalText(e)}`}`;
    const mark = svg("g", { class: `interval ${verdict}`, "data-tip": tip });
    if (known(e.low) && known(e.high)) mark.append(svg("line", { x1: x(i), x2: x(i), y1: y(e.low), y2: y(e.high), class: "whisker" }));
    mark.append(svg("circle", { cx: x(i), cy: y(e.ratio), r: 3.5 }));
    chart.append(mark);
  });
  return h("figure", {}, h("figcaption", {}, data.benchmarks[benchmark].label), chart);
}

/** The slices behind a comparison: base and target by instance; void ones are hollow. */
export function slices(data: Data, base: number, target: number, benchmark: number): HTMLElement | null {
  const t = data.trials;
  if (t.benchmark === null) return null;
  const picked: { side: number; instance: number; qps: number; void: string }[] = [];
  t.benchmark.forEach((b, i) => {
    const qps = t.qps[i];
    if (b !== benchmark || !known(qps) || (t.target[i] !== base && t.target[i] !== target)) return;
    picked.push({ side: t.target[i] === base ? 0 : 1, instance: t.instance[i], qps, void: data.texts[t.void[i]] });
  });
  if (picked.length === 0) return null;
  const counted = picked.filter((p) => p.void === "").map((p) => p.qps);
  const all = counted.length > 0 ? counted : picked.map((p) => p.qps);
  const low = Math.min(...all) * 0.97;
  const high = Math.max(...all) * 1.03;
  const instances = Math.max(...picked.map((p) => p.instance)) + 1;
  const width = 560;
  const height = 190;
  const left = 62;
  const x = (p: { side: number; instance: number }): number =>
    left + ((width - left - 12) * (p.instance + 0.32 + 0.36 * p.side)) / instances;
  const y = (v: number): number => 8 + (1 - (Math.min(Math.max(v, low), high) - low) / (high - low)) * (height - 44);
  const chart = svg("svg", {
    viewBox: `0 0 ${width} ${height}`,
    class: "chart",
    role: "img",
    "aria-label": "queries per second of each slice, by instance",
  });
  for (const tick of ticks(low, high, 4)) {
    chart.append(
      svg("line", { x1: left, x2: width - 8, y1: y(tick), y2: y(tick), class: "grid" }),
      svg("text", { x: left - 6, y: y(tick) + 4, class: "tick", "text-anchor": "end" }, tick.toLocaleString("en")),
    );
  }
  chart.append(
    svg(
      "text",
      { x: left + (width - left) / 2, y: height - 4, class: "tick", "text-anchor": "middle" },
      `instances 1 to ${instances}; queries per second of each slice`,
    ),
  );
  for (const p of picked) {
    chart.append(
      svg("circle", {
        cx: x(p),
        cy: y(p.qps),
        r: 3.5,
        class: `slice ${p.side === 0 ? "of-base" : "of-target"}${p.void === "" ? "" : " void"}`,
        "data-tip": `${data.targets[p.side === 0 ? base : target].name}, instance ${p.instance + 1}: ${Math.round(p.qps).toLocaleString("en")} QPS${p.void === "" ? "" : `\nvoid: ${p.void}`}`,
      }),
    );
  }
  return h(
    "figure",
    {},
    h(
      "figcaption",
      {},
      h("span", { class: "key of-base" }, data.targets[base].name),
      h("span", { class: "key of-target" }, data.targets[target].name),
    ),
    chart,
  );
}
