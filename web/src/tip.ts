// Tooltips for mouse, keyboard and touch: whatever has data-tip shows it while it is pointed at or has the focus.

import { h } from "./dom";

const gap = 8; // to the element and to the edge of the window, in pixels

/** Shows the tooltips of the page; called once. */
export function tooltips(): void {
  const tip = h("div", { class: "tip", role: "tooltip", id: "tip", hidden: true });
  document.body.append(tip);
  let owner: Element | null = null;
  const hide = (): void => {
    owner?.removeAttribute("aria-describedby");
    owner = null;
    tip.hidden = true;
  };
  const show = (target: EventTarget | null): void => {
    const element = target instanceof Element ? target.closest("[data-tip]") : null;
    if (element === owner) return;
    hide();
    if (element === null) return;
    owner = element;
    owner.setAttribute("aria-describedby", "tip");
    tip.textContent = element.getAttribute("data-tip");
    tip.hidden = false;
    const at = element.getBoundingClientRect();
    const left = Math.min(at.left, document.documentElement.clientWidth - tip.offsetWidth - gap);
    const below = at.bottom + gap + tip.offsetHeight <= window.innerHeight;
    tip.style.left = `${Math.max(gap, left)}px`;
    tip.style.top = `${below ? at.bottom + gap : Math.max(gap, at.top - tip.offsetHeight - gap)}px`;
  };
  document.addEventListener("mouseover", (event) => show(event.target));
  document.addEventListener("mouseleave", hide);
  document.addEventListener("focusin", (event) => {
    // A click gives the focus too, but what it opens says more than a tooltip.
    if (event.target instanceof Element && event.target.matches(":focus-visible")) show(event.target);
    else hide();
  });
  document.addEventListener("scroll", hide, { capture: true, passive: true });
  document.addEventListener("keydown", (event) => {
    if (event.key === "Escape") hide();
  });
}
