// The shapes of the data that the program writes into the page; internal/report/htmlpage.go has the same.

/** Verdicts by their number in the data. */
export const verdicts = ["slower", "faster", "same", "inconclusive"] as const;
export const verdictMarks = ["▼", "▲", "=", "?"] as const;

type Num = number | null;

/** A comparison as the data has it; warnings come last. */
type Cell = [
  verdict: number,
  qps: Num,
  qpsLow: Num,
  qpsHigh: Num,
  cpuVerdict: number,
  cpu: Num,
  cpuLow: Num,
  cpuHigh: Num,
  instances: number,
  voidSlices: number,
  detectable: Num,
  reason: number,
  ...warnings: number[],
];

/** A ratio to the base with its interval and its verdict; the interval is null where one instance gives none. */
export interface Estimate {
  ratio: Num;
  low: Num;
  high: Num;
  verdict: number; // -1 if unknown
}

/** A target against a base on one benchmark. */
export interface Comparison {
  qps: Estimate;
  cpu: Estimate;
  instances: number;
  voidSlices: number;
  detectable: Num;
  reason: string;
  warnings: string[];
}

export interface Target {
  name: string;
  version: string;
  provider: string;
  origin: string;
  checksum: string;
  dropped: string;
}

export interface Group {
  group: string;
  target: number;
  verdict: number;
  min: Num;
  max: Num;
  avg: Num;
  median: Num;
  counts: [number, number, number, number];
}

export interface Base {
  headlines: string[];
  cells: (Cell | null)[][];
  groups: Group[];
}

export interface Line {
  name: string;
  targets: number[];
  changes: { benchmark: number; target: number; relative: Num; word: string; state: string }[];
}

/** The profiling slices of one benchmark on one target, added up. */
export interface Profile {
  benchmark: number;
  target: number;
  operations: number;
  waits: [number, number, number, number][]; // event, count, ns, whether it is estimated from samples
  stacks: Stacks[];
}

/** A tree of sampled stacks: frame, samples and number of frames above it, for each from the root up. */
export interface Stacks {
  sampler: string;
  operations: number;
  nodes: number[];
}

/** A setting, or a part of the builds, that is not the same on all targets: its value on each. */
export interface Difference {
  name: string;
  chosen: boolean;
  values: (string | null)[];
}

export interface Data {
  title: string;
  notes: string[];
  run: { id: number; uid: string; started: string; ended: string; state: string; program: string };
  facts: [string, string][] | null;
  problems: string[];
  missing: [string, string, string][];
  minEffect: Num;
  targets: Target[];
  benchmarks: { label: string; group: string; about: string }[];
  bases: Base[];
  shown: number[];
  costs: (Num[] | null)[][];
  lines: Line[];
  profiles: Profile[];
  differences: Difference[];
  builds: Difference[];
  trials: {
    benchmark: number[] | null;
    target: number[];
    instance: number[];
    block: number[];
    seconds: Num[];
    qps: Num[];
    cpuUs: Num[];
    p95Ms: Num[];
    void: number[];
  };
  texts: string[];
}

/** The costs of an operation, in the order of Data.costs. */
export const costs = [
  { name: "QPS", about: "operations by second", higher: true },
  { name: "server CPU µs/op", about: "CPU time of the server for an operation", higher: false },
  { name: "client CPU µs/op", about: "CPU time of the load generator for an operation", higher: false },
  { name: "host CPU µs/op", about: "CPU time of the whole host for an operation", higher: false },
  { name: "switches/op", about: "context switches of the host for an operation", higher: false },
  { name: "reads/op", about: "reads of the disk for an operation", higher: false },
  { name: "read KB/op", about: "KB read from the disk for an operation", higher: false },
  { name: "written KB/op", about: "KB written to the disk for an operation", higher: false },
] as const;

/** What the reader chose; every view is drawn from it anew. */
export interface State {
  base: number;
  metric: "qps" | "cpu" | "absolute";
  group: string; // "" for all
  verdict: number; // -1 for all
  search: string;
  sort: { target: number; down: boolean } | null; // null: the order of the suite
  focus: { benchmark: number; target: number } | null;
}

export function known(value: number | null | undefined): value is number {
  return typeof value === "number";
}

/** The comparison of a target with a base; null for the base itself and for what was not compared. */
export function compared(data: Data, base: number, benchmark: number, target: number): Comparison | null {
  const cell = data.bases[base].cells[benchmark][target];
  if (cell === null) return null;
  const [verdict, qps, qpsLow, qpsHigh, cpuVerdict, cpu, cpuLow, cpuHigh, instances, voidSlices, detectable, reason, ...warnings] = cell;
  return {
    qps: { ratio: qps, low: qpsLow, high: qpsHigh, verdict },
    cpu: { ratio: cpu, low: cpuLow, high: cpuHigh, verdict: cpuVerdict },
    instances,
    voidSlices,
    detectable,
    reason: data.texts[reason],
    warnings: warnings.map((w) => data.texts[w]),
  };
}

/** A ratio as the other formats print it. */
export function ratioText(value: Num | undefined): string {
  if (!known(value)) return "–";
  return value.toFixed(value < 10 ? 3 : value < 100 ? 1 : 0);
}

export function intervalText(estimate: Estimate): string {
  return known(estimate.low) && known(estimate.high) ? `${ratioText(estimate.low)}–${ratioText(estimate.high)}` : "unknown";
}

export function numberText(value: Num | undefined): string {
  if (!known(value)) return "–";
  const size = Math.abs(value);
  if (size >= 100) return Math.round(value).toLocaleString("en");
  if (size >= 10) return value.toFixed(1);
  if (size === 0) return "0";
  return size >= 1 ? value.toFixed(2) : value.toPrecision(2);
}

export function percentText(value: Num): string {
  if (!known(value)) return "–";
  const percent = 100 * value;
  return `${percent > 0 ? "+" : percent < 0 ? "−" : ""}${Math.abs(percent).toFixed(1)} %`;
}

/** What the table shows of a comparison: its server CPU if that was chosen, else its rate. */
export function shownEstimate(data: Data, state: State, benchmark: number, target: number): Estimate | undefined {
  const c = compared(data, state.base, benchmark, target);
  return state.metric === "cpu" ? c?.cpu : c?.qps;
}

/** The benchmarks that the filters leave, in the order that was asked for. */
export function rows(data: Data, state: State): number[] {
  const words = state.search.toLowerCase();
  const kept = data.benchmarks
    .map((_, i) => i)
    .filter((i) => {
      const benchmark = data.benchmarks[i];
      if (state.group !== "" && benchmark.group !== state.group) return false;
      if (words !== "" && !benchmark.label.toLowerCase().includes(words)) return false;
      return state.verdict < 0 || data.targets.some((_, target) => shownEstimate(data, state, i, target)?.verdict === state.verdict);
    });
  const order = groups(data);
  kept.sort((a, b) => order.indexOf(data.benchmarks[a].group) - order.indexOf(data.benchmarks[b].group));
  const sort = state.sort;
  if (sort === null) return kept;
  const value = (i: number): number => {
    const v = state.metric === "absolute" ? data.costs[i][sort.target]?.[0] : shownEstimate(data, state, i, sort.target)?.ratio;
    return known(v) ? v : Number.NaN;
  };
  return kept.sort((a, b) => {
    const left = value(a);
    const right = value(b);
    if (Number.isNaN(left) || Number.isNaN(right)) return Number(Number.isNaN(left)) - Number(Number.isNaN(right));
    return sort.down ? right - left : left - right;
  });
}

/** The groups in the order in which they first appear. */
export function groups(data: Data): string[] {
  return [...new Set(data.benchmarks.map((b) => b.group))].filter((g) => g !== "");
}
