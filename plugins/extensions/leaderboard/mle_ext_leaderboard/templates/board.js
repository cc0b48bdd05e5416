// Shows the rows that have every chosen property and the words.
const filters = document.querySelector("details.filters");
if (filters) {
  const rows = [...document.querySelectorAll("tr[data-tags]")];
  const status = document.getElementById("shown");
  const apply = () => {
    const tags = [...filters.querySelectorAll("input:checked")].map((box) => box.value);
    const words = filters.querySelector("input[type=search]").value.toLowerCase();
    let shown = 0;
    for (const row of rows) {
      const own = row.dataset.tags.split(" ");
      row.hidden = !tags.every((tag) => own.includes(tag)) || !row.textContent.toLowerCase().includes(words);
      if (!row.hidden) shown += 1;
    }
    status.textContent = `${shown} of ${rows.length} rows`;
  };
  filters.addEventListener("input", apply);
  filters.addEventListener("submit", (event) => event.preventDefault());
  filters.hidden = false;
  apply();
}
