"use strict";
// Sorts a table by the column whose heading was pressed; cells without a value stay last.
const SECONDS = { d: 86400, h: 3600, m: 60, s: 1 };
const number = (text) => {
  if (/^\d{4}([-\u2011]\d\d){2}$/.test(text)) return parseInt(text.replace(/\D/g, ""), 10); // a date
  if (/^([\d.]+[dhms]\s?)+$/.test(text)) // a duration, such as "1h 20m"
    return text.match(/[\d.]+[dhms]/g).reduce((sum, part) => sum + parseFloat(part) * SECONDS[part.at(-1)], 0);
  const found = /^[<\s]*([-+]?[\d.][\d,.]*(e[-+]?\d+)?)/i.exec(text);
  return found ? parseFloat(found[1].replaceAll(",", "")) : NaN;
};
const value = (row, column) => {
  const cell = row.cells[column];
  return cell ? (cell.dataset.value ?? cell.textContent).trim() : "";
};
document.addEventListener("click", (event) => {
  const button = event.target.closest("th button");
  if (!button) return;
  const heading = button.closest("th");
  const table = heading.closest("table");
  const descending = heading.getAttribute("aria-sort") === "ascending";
  for (const other of heading.parentElement.cells) other.removeAttribute("aria-sort");
  heading.setAttribute("aria-sort", descending ? "descending" : "ascending");
  for (const body of table.tBodies) {
    const rows = [...body.rows];
    const keys = new Map(rows.map((row) => [row, value(row, heading.cellIndex)]));
    const numeric = [...keys.values()].every((text) => text === "" || text === "-" || !Number.isNaN(number(text)));
    const empty = (text) => text === "" || text === "-";
    rows.sort((a, b) => {
      const [one, other] = [keys.get(a), keys.get(b)];
      if (empty(one) || empty(other)) return empty(one) - empty(other);
      const order = numeric ? number(one) - number(other) : one.localeCompare(other);
      return descending ? -order : order;
    });
    body.append(...rows);
  }
});
// Copies the text beside a button.
document.addEventListener("click", (event) => {
  const button = event.target.closest("button.copy");
  if (!button) return;
  const text = button.closest("div").querySelector("pre");
  getSelection().selectAllChildren(text);
  const done = () => { button.textContent = "Copied"; };
  if (navigator.clipboard) navigator.clipboard.writeText(text.textContent).then(done, () => {});
  else if (document.execCommand("copy")) done();
});
// Opens the part that a link leads into.
const reveal = () => {
  const target = location.hash && document.getElementById(decodeURIComponent(location.hash.slice(1)));
  if (!target) return;
  for (let part = target.closest("details"); part; part = part.parentElement.closest("details")) part.open = true;
  target.scrollIntoView();
};
addEventListener("hashchange", reveal);
reveal();
