// Elements are made by these functions only: every text goes in as text, never as markup.

type Child = Node | string | null;
type Attributes = Record<string, string | number | boolean | ((event: Event) => void)>;

function apply(element: Element, attributes: Attributes, children: Child[]): void {
  for (const [name, value] of Object.entries(attributes)) {
    if (typeof value === "function") element.addEventListener(name, value);
    else if (value === true) element.setAttribute(name, "");
    else if (value !== false) element.setAttribute(name, String(value));
  }
  for (const child of children) if (child !== null) element.append(child);
}

export function h<K extends keyof HTMLElementTagNameMap>(
  name: K,
  attributes: Attributes = {},
  ...children: Child[]
): HTMLElementTagNameMap[K] {
  const element = document.createElement(name);
  apply(element, attributes, children);
  return element;
}

export function svg(name: string, attributes: Attributes = {}, ...children: Child[]): SVGElement {
  const element = document.createElementNS("http://www.w3.org/2000/svg", name);
  apply(element, attributes, children);
  return element;
}

/** A labelled choice; the label belongs to it for readers of the screen too. */
export function choice(
  label: string,
  options: { value: string; text: string }[],
  value: string,
  changed: (value: string) => void,
): HTMLElement {
  const select = h("select", { change: () => changed(select.value) });
  for (const option of options) select.append(h("option", { value: option.value }, option.text));
  select.value = value;
  return h("label", { class: "choice" }, h("span", {}, label), select);
}

export function section(id: string, title: string, ...children: Child[]): HTMLElement {
  return h("section", { id, "aria-labelledby": `${id}-title` }, h("h2", { id: `${id}-title` }, title), ...children);
}
