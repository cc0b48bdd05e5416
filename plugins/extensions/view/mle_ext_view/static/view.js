
// A page that is live: when its event stream tells of a change, it fetches itself and replaces the parts that differ.
const watched = document.querySelector("[data-events]");
const fresh = async () => {
  const asked = location.href;
  const answer = await fetch(asked);
  if (!answer.ok) return;
  const page = new DOMParser().parseFromString(await answer.text(), "text/html");
  if (asked !== location.href) return; // a filter has changed meanwhile
  for (const part of document.querySelectorAll("[data-part]")) {
    const next = page.querySelector(`[data-part="${part.dataset.part}"]`);
    if (!next || next.innerHTML === part.innerHTML || part.contains(document.activeElement)) continue;
    const scrolled = [...part.querySelectorAll(".scroll")].map((region) => region.scrollTop);
    part.replaceChildren(...next.childNodes);
    part.querySelectorAll(".scroll").forEach((region, at) => { region.scrollTop = scrolled[at] ?? 0; });
  }
};
if (watched) {
  let stream = null, busy = false, again = false;
  const update = async () => {
    if (busy) { again = true; return; }
    busy = true;
    try { await fresh(); } catch { /* the next change tries again */ }
    busy = false;
    if (again) { again = false; setTimeout(update, 500); }
  };
  const status = document.getElementById("live");
  const open = () => {
    stream = new EventSource(watched.dataset.events);
    stream.onmessage = update;
    stream.onopen = () => { status.textContent = "● Live"; status.title = "Changes appear by themselves"; update(); };
    stream.onerror = () => { status.textContent = "Not connected: mlecore view has ended or does not answer."; };
  };
  // A browser has six connections to a server: a page that nobody sees gives its own back.
  const turn = () => {
    if (document.hidden) { stream?.close(); stream = null; } else if (!stream) open();
  };
  document.addEventListener("visibilitychange", turn);
  turn();
}
// Filters act at once, and the address has their state; without scripts there is a button.
for (const form of document.querySelectorAll("form[data-now]")) {
  for (const button of form.querySelectorAll("button")) button.hidden = true;
  let soon = 0;
  const show = async () => {
    const given = new URLSearchParams([...new FormData(form)].filter(([, value]) => value));
    history.replaceState(null, "", `${location.pathname}${given.size ? "?" : ""}${given}`);
    await fresh();
  };
  form.addEventListener("input", () => { clearTimeout(soon); soon = setTimeout(show, 150); });
  form.addEventListener("submit", (event) => { event.preventDefault(); show(); });
}
for (const end of document.querySelectorAll(".verdict pre.log")) end.scrollTop = end.scrollHeight;
// A log that grows.
const log = document.querySelector("[data-tail]");
if (log) {
  let end = Number(log.dataset.end);
  const more = async () => {
    if (document.hidden) { setTimeout(more, 2000); return; }
    try {
      const answer = await fetch(`${log.dataset.tail}?from=${end}`);
      const part = await answer.json();
      if (part.html) {
        const atEnd = log.scrollHeight - log.scrollTop - log.clientHeight < 40;
        log.insertAdjacentHTML("beforeend", part.html + "\n");
        if (atEnd) log.scrollTop = log.scrollHeight;
      }
      if (part.end !== undefined) end = part.end;
      if (part.ended) { document.getElementById("live").textContent = "The run has ended."; return; }
      setTimeout(more, part.html ? 300 : 1500);
    } catch { setTimeout(more, 5000); }
  };
  log.scrollTop = log.scrollHeight;
  more();
}
// Keys: / goes to the search field, [ and ] to the page before and after.
document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || event.target.closest("input, select, textarea")) return;
  const wanted = { "/": "input[type=search]", "[": "a[rel=prev]", "]": "a[rel=next]" }[event.key];
  const found = wanted && document.querySelector(wanted);
  if (!found) return;
  event.preventDefault();
  if (found.matches("input")) found.focus(); else found.click();
});
