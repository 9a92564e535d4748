// Where a server's time went: what its threads waited for, and flame graphs of its stacks.

import { type Data, type Profile, type Stacks, type State, known, numberText, percentText, ratioText } from "./data";
import { choice, h } from "./dom";

/** A frame of a flame graph with what lies above it. */
export interface Frame {
  name: string;
  cost: number; // samples by operation, those of the frames above included
  before: number; // the same on the base; equal to cost where nothing is compared
  above: Frame[];
}

/** What the reader chose of this section; it outlives a new drawing. */
export interface Picked {
  benchmark: number;
  target: number;
  view: "difference" | "target" | "base";
  sampler: string;
}

const height = 19; // of a frame, in pixels
const narrowest = 0.0015; // part of the width below which a frame is left out

/** Reads the tree of stacks: for each frame, from the root up, its name, samples and number of frames above. */
export function tree(texts: string[], stacks: Stacks): Frame {
  let at = 0;
  const next = (): Frame => {
    const [name, samples, count] = [stacks.nodes[at], stacks.nodes[at + 1], stacks.nodes[at + 2]];
    at += 3;
    const cost = samples / stacks.operations;
    const frame: Frame = { name: texts[name], cost, before: cost, above: [] };
    for (let i = 0; i < count; i++) frame.above.push(next());
    return frame;
  };
  return next();
}

/** The frames of the target, each with what it cost on the base; those that only the base has cost nothing. */
export function difference(target: Frame | null, base: Frame | null): Frame {
  const names = [...new Set([...(target?.above ?? []), ...(base?.above ?? [])].map((f) => f.name))];
  const of = (frame: Frame | null, name: string): Frame | null => frame?.above.find((f) => f.name === name) ?? null;
  return {
    name: (target ?? base)!.name,
    cost: target?.cost ?? 0,
    before: base?.cost ?? 0,
    above: names.map((name) => difference(of(target, name), of(base, name))),
  };
}

/** How wide a frame is drawn: what only one of the two has is seen as well. */
function weight(frame: Frame): number {
  return Math.max(frame.cost, frame.before);
}

function frameText(frame: Frame, whole: Frame, compared: boolean): string {
  const share = (v: number, all: number): string => (all > 0 ? `${((100 * v) / all).toFixed(1)} %` : "0 %");
  if (!compared) return `${frame.name}\n${share(frame.cost, whole.cost)} of the samples`;
  const change = whole.before > 0 ? percentText((frame.cost - frame.before) / whole.before) : "–";
  return (
    `${frame.name}\n${change} of all that an operation costs on the base\n` +
    `${share(frame.cost, whole.cost)} of the samples, ${share(frame.before, whole.before)} on the base`
  );
}

/** The colour of a frame: more or less than on the base, the stronger the more; else by its name, so that it keeps its colour. */
function paint(frame: Frame, whole: Frame, compared: boolean): [string, string] {
  if (compared) {
    const change = whole.before > 0 ? (frame.cost - frame.before) / whole.before : 0;
    if (Math.abs(change) < 0.0005) return ["alike", ""];
    return [change > 0 ? "more" : "less", `--strength: ${(15 + 65 * Math.min(1, Math.sqrt(Math.abs(change) / 0.2))).toFixed(0)}%`];
  }
  let hash = 0;
  for (const letter of frame.name) hash = (hash * 31 + letter.charCodeAt(0)) % 997;
  return ["plain", `--strength: ${12 + (hash % 30)}%`];
}

/** A flame graph: the root lies at the bottom; a frame zooms in, and arrows go from frame to frame. */
export function flame(root: Frame, compared: boolean, label: string): HTMLElement {
  const box = h("div", { class: "flame", role: "tree", "aria-label": label });
  const parents = new Map<Frame, Frame>();
  let zoomed = root;
  const draw = (focus: Frame | null): void => {
    const buttons = new Map<Frame, HTMLElement>();
    let depth = 0;
    const place = (frame: Frame, left: number, width: number, level: number): void => {
      depth = Math.max(depth, level);
      const [kind, strength] = paint(frame, root, compared);
      const button = h(
        "button",
        {
          type: "button",
          role: "treeitem",
          class: `frame ${kind}`,
          tabindex: frame === zoomed ? 0 : -1,
          "data-tip": frameText(frame, root, compared),
          "aria-level": level + 1,
          click: () => zoom(frame),
        },
        frame.name,
      );
      button.setAttribute(
        "style",
        `left: ${(100 * left).toFixed(3)}%; width: ${(100 * width).toFixed(3)}%; bottom: ${level * height}px; ${strength}`,
      );
      buttons.set(frame, button);
      box.append(button);
      // Frames above never reach further than theirs: where the base costs more in some and less in others, their sum can.
      const sum = frame.above.reduce((total, f) => total + weight(f), 0);
      const scale = width / Math.max(weight(frame), sum);
      let from = left;
      for (const above of frame.above) {
        parents.set(above, frame);
        const wide = weight(above) * scale;
        if (wide >= narrowest) place(above, from, wide, level + 1);
        from += wide;
      }
    };
    box.replaceChildren();
    const below: Frame[] = [];
    for (let frame = parents.get(zoomed); frame; frame = parents.get(frame)) below.unshift(frame);
    below.forEach((frame, level) => {
      const button = h(
        "button",
        { type: "button", class: "frame below", "data-tip": frameText(frame, root, compared), click: () => zoom(frame) },
        frame.name,
      );
      button.setAttribute("style", `left: 0; width: 100%; bottom: ${level * height}px`);
      box.append(button);
    });
    place(zoomed, 0, 1, below.length);
    box.setAttribute("style", `height: ${(depth + 1) * height + 2}px`);
    box.onkeydown = (event) => {
      const at = [...buttons].find(([, button]) => button === document.activeElement)?.[0];
      const to = at && step(at, event.key, buttons);
      if (to) buttons.get(to)?.focus();
      else if (event.key === "Escape" && zoomed !== root) zoom(root);
      else return;
      event.preventDefault();
      event.stopPropagation();
    };
    if (focus) buttons.get(focus)?.focus({ preventScroll: true });
  };
  const step = (from: Frame, key: string, shown: Map<Frame, HTMLElement>): Frame | undefined => {
    const parent = from === zoomed ? undefined : parents.get(from);
    const row = parent?.above.filter((f) => shown.has(f)) ?? [from];
    switch (key) {
      case "ArrowUp":
        return from.above.find((f) => shown.has(f));
      case "ArrowDown":
        return parent;
      case "ArrowLeft":
        return row[row.indexOf(from) - 1];
      case "ArrowRight":
        return row[row.indexOf(from) + 1];
    }
    return undefined;
  };
  const zoom = (frame: Frame): void => {
    zoomed = frame;
    draw(frame);
  };
  draw(null);
  return h("div", { class: "scroll" }, box);
}

/** What threads waited for by operation, on base and target. */
function waitTable(data: Data, base: Profile | null, target: Profile): HTMLElement | null {
  const perOperation = (profile: Profile | null, event: number): number | null => {
    const wait = profile?.waits.find((w) => w[0] === event);
    return profile === null ? null : (wait?.[2] ?? 0) / profile.operations / 1e3;
  };
  const events = [...new Set([...target.waits, ...(base?.waits ?? [])].map((w) => w[0]))].map((event) => {
    const [before, after] = [perOperation(base, event), perOperation(target, event)];
    const sampled = [...target.waits, ...(base?.waits ?? [])].some((w) => w[0] === event && w[3] === 1);
    return { event, before, after, sampled, change: (after ?? 0) - (before ?? 0) };
  });
  if (events.length === 0) return null;
  events.sort((a, b) => Math.max(b.before ?? 0, b.after ?? 0) - Math.max(a.before ?? 0, a.after ?? 0));
  const cells = (e: (typeof events)[number]): string[] =>
    base === null
      ? [numberText(e.after)]
      : [
          numberText(e.before),
          numberText(e.after),
          `${e.change > 0 ? "+" : e.change < 0 ? "−" : ""}${numberText(Math.abs(e.change))}`,
          known(e.before) && e.before > 0 && known(e.after) ? ratioText(e.after / e.before) : "–",
        ];
  const body = h(
    "tbody",
    {},
    ...events.map((e) =>
      h(
        "tr",
        {},
        h("th", { scope: "row" }, data.texts[e.event], e.sampled ? h("span", { class: "beside" }, "from samples") : null),
        ...cells(e).map((text) => h("td", { class: "number" }, text)),
      ),
    ),
  );
  const side = (profile: Profile): string => `${data.targets[profile.target].name}, µs/op`;
  const titles = ["waited for", ...(base === null ? [side(target)] : [side(base), side(target), "change", "ratio"])];
  return h(
    "div",
    { class: "scroll" },
    h("table", { class: "waits" }, h("thead", {}, h("tr", {}, ...titles.map((t) => h("th", { scope: "col" }, t)))), body),
  );
}

function stacksOf(profile: Profile | null, sampler: string): Stacks | undefined {
  return profile?.stacks.find((s) => s.sampler === sampler);
}

/** The section for what is picked; drawn anew when the reader picks something else. */
export function profiles(data: Data, state: State, picked: Picked, redraw: () => void): HTMLElement[] {
  const find = (benchmark: number, target: number): Profile | null =>
    data.profiles.find((p) => p.benchmark === benchmark && p.target === target) ?? null;
  const benchmarks = data.benchmarks.map((_, i) => i).filter((b) => data.profiles.some((p) => p.benchmark === b));
  if (!benchmarks.includes(picked.benchmark)) picked.benchmark = benchmarks[0];
  const targets = data.targets.map((_, i) => i).filter((t) => find(picked.benchmark, t) !== null);
  if (!targets.includes(picked.target) || picked.target === state.base) picked.target = targets.find((t) => t !== state.base) ?? targets[0];
  const target = find(picked.benchmark, picked.target)!;
  const base = picked.target === state.base ? null : find(picked.benchmark, state.base);
  const samplers = target.stacks.map((s) => s.sampler);
  if (!samplers.includes(picked.sampler)) picked.sampler = samplers[0] ?? "";
  const option = (list: { name?: string; label?: string }[]) => (i: number) => ({
    value: String(i),
    text: list[i].name ?? list[i].label ?? "",
  });
  const controls = [
    choice("benchmark", benchmarks.map(option(data.benchmarks)), String(picked.benchmark), (v) => {
      picked.benchmark = Number(v);
      redraw();
    }),
    choice("target", targets.map(option(data.targets)), String(picked.target), (v) => {
      picked.target = Number(v);
      redraw();
    }),
  ];
  const parts: (HTMLElement | null)[] = [waitTable(data, base, target)];
  const stacks = stacksOf(target, picked.sampler);
  if (stacks) {
    const before = stacksOf(base, picked.sampler);
    const view = before && base ? picked.view : "target";
    if (samplers.length > 1)
      controls.push(
        choice(
          "sampled by",
          samplers.map((s) => ({ value: s, text: s })),
          picked.sampler,
          (v) => {
            picked.sampler = v;
            redraw();
          },
        ),
      );
    if (before && base) {
      const views = [
        { value: "difference", text: "difference" },
        { value: "target", text: data.targets[picked.target].name },
        { value: "base", text: data.targets[state.base].name },
      ];
      controls.push(
        choice("stacks", views, view, (v) => {
          picked.view = v as Picked["view"];
          redraw();
        }),
      );
    }
    parts.push(flameOf(data, target, stacks, base, before, view));
  }
  const note = "Profiling slices are apart from the measured ones: they show where time went and are no part of a ratio.";
  return [h("p", { class: "note" }, note), h("div", { class: "controls" }, ...controls), ...parts.filter((x) => x !== null)];
}

function flameOf(
  data: Data,
  target: Profile,
  stacks: Stacks,
  base: Profile | null,
  before: Stacks | undefined,
  view: Picked["view"],
): HTMLElement {
  const name = (p: Profile): string => data.targets[p.target].name;
  if (!base || !before || view === "target") {
    return flame(tree(data.texts, stacks), false, `flame graph of ${name(target)} by ${stacks.sampler}`);
  }
  if (view === "base") return flame(tree(data.texts, before), false, `flame graph of ${name(base)} by ${stacks.sampler}`);
  const root = difference(tree(data.texts, stacks), tree(data.texts, before));
  return h(
    "div",
    {},
    h(
      "p",
      { class: "legend" },
      h("span", { class: "key-more" }, "costs more"),
      h("span", { class: "key-less" }, `costs less than on ${name(base)}`),
      h("span", {}, "samples by operation; a frame is as wide as the larger of the two"),
    ),
    flame(root, true, `flame graph of ${name(target)} against ${name(base)} by ${stacks.sampler}`),
  );
}
