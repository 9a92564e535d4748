// Paper does not scroll: a wide table is printed as several, each with the first column and some of the others.

const most = 9; // columns beside the first one that a page in landscape has room for

/** The columns from one to another of a table, and its first one. */
function part(table: HTMLTableElement, from: number, to: number): HTMLTableElement {
  const copy = table.cloneNode(true) as HTMLTableElement;
  for (const row of copy.rows) {
    const cells = [...row.cells];
    if (cells.length === 1) cells[0].colSpan = to - from + 1;
    else cells.forEach((cell, i) => (i > 0 && (i < from || i >= to) ? cell.remove() : undefined));
  }
  return copy;
}

/** Splits the wide tables of the page before it is printed, and restores them after; called once. */
export function printing(): void {
  let whole: [HTMLTableElement, HTMLTableElement[]][] = [];
  addEventListener("beforeprint", () => {
    for (const table of document.querySelectorAll<HTMLTableElement>(".scroll > table")) {
      const columns = (table.tHead?.rows[0]?.cells.length ?? 0) - 1;
      if (columns <= most) continue;
      const width = Math.ceil(columns / Math.ceil(columns / most)); // the parts are about equally wide
      const parts: HTMLTableElement[] = [];
      for (let from = 1; from <= columns; from += width) parts.push(part(table, from, Math.min(from + width, columns + 1)));
      table.replaceWith(...parts);
      whole.push([table, parts]);
    }
  });
  addEventListener("afterprint", () => {
    for (const [table, [first, ...others]] of whole) {
      first.replaceWith(table);
      for (const other of others) other.remove();
    }
    whole = [];
  });
}
