"use strict";
// Sorting is all that runs here: numbers by value, everything else by name, "-" last.
function value(cell) {
  const text = cell.textContent.trim();
  const number = parseFloat(text.replace(/[,+<→ ]/g, ""));
  return text === "-" ? null : Number.isNaN(number) ? text.toLowerCase() : number;
}
function compare(a, b) {
  if (a === null || b === null) return (a === null) - (b === null);
  if (typeof a === typeof b) return a < b ? -1 : a > b ? 1 : 0;
  return typeof a === "number" ? -1 : 1;
}
for (const button of document.querySelectorAll("th button")) {
  button.addEventListener("click", () => {
    const head = button.closest("th"), table = head.closest("table"), body = table.tBodies[0];
    const column = head.cellIndex, down = head.getAttribute("aria-sort") === "ascending";
    for (const other of table.querySelectorAll("th")) other.removeAttribute("aria-sort");
    head.setAttribute("aria-sort", down ? "descending" : "ascending");
    const rows = [...body.rows].map((row) => [value(row.cells[column]), row]);
    rows.sort((a, b) => (a[0] === null || b[0] === null || !down ? 1 : -1) * compare(a[0], b[0]));
    body.append(...rows.map((pair) => pair[1]));
  });
}
