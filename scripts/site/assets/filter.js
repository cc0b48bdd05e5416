"use strict";
// A search field, and a menu for each column that asks for one, above the table of competitions.
{
  const table = document.querySelector("table.competitions");
  const form = document.createElement("form");
  const shown = document.createElement("output");
  const rows = [...table.tBodies[0].rows];
  const cell = (row, column) => row.cells[column].textContent;
  const search = form.appendChild(document.createElement("input"));
  Object.assign(search, { type: "search", placeholder: "Search", ariaLabel: "Search" });
  const menus = [...table.tHead.rows[0].cells].filter((heading) => "menu" in heading.dataset).map((heading) => {
    const menu = form.appendChild(document.createElement("select"));
    menu.ariaLabel = heading.textContent;
    menu.column = heading.cellIndex;
    menu.add(new Option(heading.dataset.menu, ""));
    for (const text of new Set(rows.map((row) => cell(row, menu.column)))) menu.add(new Option(text));
    return menu;
  });
  const show = () => {
    const words = search.value.toLowerCase().split(/\s+/);
    for (const row of rows)
      row.hidden = !words.every((word) => row.textContent.toLowerCase().includes(word)) ||
        menus.some((menu) => menu.value && menu.value !== cell(row, menu.column));
    shown.textContent = `${rows.filter((row) => !row.hidden).length} of ${rows.length}`;
  };
  form.className = "filter";
  form.append(shown);
  form.addEventListener("input", show);
  form.addEventListener("submit", (event) => event.preventDefault());
  table.before(form);
  show();
}
