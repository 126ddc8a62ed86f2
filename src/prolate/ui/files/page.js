"use strict";
// One page, no library: reads the form, asks the server, shows what it says. Nothing is
// computed here; what comes back is put in as text, never as HTML.

const $ = id => document.getElementById(id);
const form = $("plan");
const lines = [...document.querySelectorAll("#columns tbody tr")];
const number = field => field.value.trim() === "" ? null : field.valueAsNumber;
const parts = line => ({
  name: line.dataset.column,
  use: line.querySelector("input[type=checkbox]"),
  low: line.querySelector(".low"), high: line.querySelector(".high"),
  spread: line.querySelector(".spread"),
  noise: line.querySelector(".noise"), sampling: line.querySelector(".sampling"),
});
const columns = lines.map(parts);

async function ask(path, fields) {
  try {
    const answer = await fetch(path, fields === undefined ? {} : {
      method: "POST", headers: {"content-type": "application/json"}, body: JSON.stringify(fields),
    });
    const found = answer.status === 403
      ? {error: "This address is of a page that has ended; use the one in the terminal."}
      : await answer.json();
    return found;
  } catch {
    return {error: "The page has ended, or cannot be reached; see the terminal."};
  }
}

function make(kind, text, more = {}) {
  const node = document.createElement(kind);
  if (text !== undefined) node.textContent = text;
  return Object.assign(node, more);
}

const statistic = () => $("statistic").value;
const target = () => statistic() === "regress" ? $("target").value : null;

function wanted() {
  const goal = target();
  const used = columns.filter(c => c.use.checked && c.name !== goal);
  const bounds = {}, spread = {};
  for (const c of columns.filter(c => used.includes(c) || c.name === goal)) {
    const pair = [number(c.low), number(c.high)];
    if (pair.some(end => end !== null)) bounds[c.name] = pair;
    if (number(c.spread) !== null) spread[c.name] = number(c.spread);
  }
  return {
    statistic: statistic(), target: goal ?? "",
    q: $("q").value.split(/[\s,;]+/).filter(Boolean).map(Number),
    columns: used.map(c => c.name), bounds, spread,
    neighbors: form.elements.neighbors.value || null,
    unit: $("unit").value || null,
    contribution: form.elements.contribution.value, max_rows: number($("max-rows")),
    by: $("by").value || null,
    keys: $("keys").value.split(",").map(k => k.trim()).filter(Boolean),
    epsilon: number($("epsilon")), delta: number($("delta")), rows: number($("rows")),
  };
}

// --- the form -------------------------------------------------------------------------------

function settle() {
  const goal = target(), fits = statistic() === "regress";
  for (const [i, c] of columns.entries()) {
    const used = c.use.checked || c.name === goal;
    c.use.disabled = c.name === goal;  // its bounds count, and it is no feature
    for (const field of [c.low, c.high]) field.disabled = !used;
    c.spread.disabled = !used || fits;
    lines[i].classList.toggle("used", used);
    lines[i].classList.toggle("target", c.name === goal);
    if (!used) c.noise.textContent = c.sampling.textContent = "";
  }
  $("columns").classList.toggle("fits", fits);
  $("columns-title").textContent = fits ? "Features: the columns to explain it by" : "Columns";
  $("about-spread").hidden = fits;
  $("target-field").hidden = !fits;
  $("columns-part").hidden = statistic() === "count";
  $("quantiles").hidden = statistic() !== "quantile";
  $("contribution-field").hidden = !$("unit").value;
  $("max-rows-field").hidden = !$("with-rows").checked;
  $("rows-field").hidden = fits || statistic() === "sum" || statistic() === "count";
  $("keys-field").hidden = !$("by").value;
  const epsilon = number($("epsilon"));
  if (epsilon > 0 && document.activeElement !== $("slider")) $("slider").value = Math.log10(epsilon);
  $("slider").setAttribute("aria-valuetext", `epsilon ${$("epsilon").value}`);
}

const remembered = () => [...form.elements].filter(e => e.id && e.matches("input, select"));

function remember() {
  const kept = remembered().map(e => [e.id, e.matches("[type=checkbox], [type=radio]") ? e.checked : e.value]);
  try { sessionStorage.setItem("plan", JSON.stringify(kept)); } catch { /* not kept, then */ }
}

function recall() {
  let kept = [];
  try { kept = JSON.parse(sessionStorage.getItem("plan")) || []; } catch { /* nothing kept */ }
  for (const [id, value] of kept) {
    const field = $(id);
    if (field && typeof value === "boolean") field.checked = value;
    else if (field) field.value = value;
  }
}

// --- the error to expect ----------------------------------------------------------------------

let asking = false, again = false, timer = 0;

function changed() {
  settle();
  remember();
  $("problem").hidden = true;
  $("expected").classList.add("old");
  clearTimeout(timer);
  timer = setTimeout(expected, 250);
}

// One question at a time: while one is answered, only the newest waits.
async function expected() {
  if (asking) { again = true; return; }
  const fields = wanted();
  const incomplete = !fields.neighbors || (!fields.columns.length && fields.statistic !== "count")
    || (fields.statistic === "regress" && !fields.target);
  if (!incomplete && !$("notes").childElementCount) $("summary").textContent = "Working out the error to expect…";
  asking = true;
  const found = await ask("expected", fields);
  asking = false;
  if (again) { again = false; expected(); return; }
  $("expected").classList.remove("old");
  $("summary").textContent = found.summary ?? (incomplete
    ? `Choose ${fields.statistic === "regress" ? "a target, features" : "columns"}, and what is hidden, to see the error to expect.`
    : found.missing ?? found.error);
  $("notes").replaceChildren(...(found.notes ?? []).map(note => make("li", note)));
  $("room").textContent = found.mu ? `This budget is μ = ${found.mu}. ${found.room}` : "";
  const known = typeof found.rows === "number";
  $("rows").disabled = known;
  $("rows").placeholder = known ? String(found.rows) : "";
  const counted = fields.unit && fields.contribution === "mean" ? "Persons" : "Rows";
  document.querySelector("label[for=rows]").textContent = `${counted} (${known ? "public" : "a guess"})`;
  for (const c of columns) {
    const own = found.columns?.[c.name];
    c.noise.textContent = own ? `± ${own.noise}` : "";
    c.sampling.textContent = own?.sampling ? `± ${own.sampling}` : "";
  }
}

// --- confirming -------------------------------------------------------------------------------

let ticket = null;

function refuse(sentence) {
  $("problem").textContent = sentence;
  $("problem").hidden = false;
}

form.addEventListener("submit", async event => {
  event.preventDefault();
  if ($("review").disabled) return;
  $("review").disabled = true;
  $("problem").hidden = true;
  const found = await ask("review", wanted());
  $("review").disabled = false;
  if (found.error) { refuse(found.error); return; }
  ticket = found.ticket;
  $("words").replaceChildren(...found.words.map(sentence => make("p", sentence)));
  if ($("confirm").open) return;
  $("confirm").className = "new";  // the second of two quick clicks is not meant for it
  setTimeout(() => { $("confirm").className = ""; }, 500);
  $("confirm").showModal();
});

$("cancel").addEventListener("click", () => $("confirm").close());
$("confirm").addEventListener("close", () => { ticket = null; });
$("release").addEventListener("click", async () => {
  const mine = ticket;  // once: a second click finds none, and the server starts a ticket once
  ticket = null;
  if (mine === null) return;
  $("confirm").close();
  const found = await ask("release", {ticket: mine});
  if (found.error && !found.state) refuse(found.error);
  await refresh(true);
});

// --- releases and the ledger ------------------------------------------------------------------

let shown = null, waiting = 0;

function show(run, focus) {
  shown = run.id;
  $("shown").hidden = false;
  $("report-title").textContent = `Report: ${run.title}`;
  $("report").src = `runs/${run.id}/report`;
  if (focus) { $("releases-title").focus(); $("releases").scrollIntoView(); }
}

$("report").addEventListener("load", fit);
addEventListener("resize", fit);
function fit() {
  const page = $("report").contentDocument?.documentElement;
  if (page) $("report").style.height = `${Math.min(page.scrollHeight + 4, 0.85 * innerHeight)}px`;
}

function card(run) {
  const node = make("article", undefined, {className: "run"});
  node.dataset.state = run.state;
  node.append(make("h3", run.title));
  if (run.state === "running") {
    const bar = make("progress");
    bar.setAttribute("aria-label", "Progress of the release");
    if (run.part !== null) bar.value = run.part;
    node.append(make("p", `Being made: ${run.step || "starting"}. You may reload this page.`), bar);
  } else if (run.error) {
    node.append(make("p", run.error, {className: "problem"}));
  } else {
    node.append(make("p", run.headline, {className: "soft"}));
    const list = make("ul");
    const see = make("button", "Show report", {type: "button", className: "small"});
    see.addEventListener("click", () => show(run, false));
    see.setAttribute("aria-label", `Show the report of: ${run.title}`);
    const items = [see];
    for (const [kind, label] of [["json", "JSON"], ["csv", "CSV"], ["html", "HTML report"], ["py", "Python code"], ["sh", "Command"]]) {
      const link = make("a", label, {href: `runs/${run.id}/${kind}`, download: ""});
      link.setAttribute("aria-label", `Download ${label}: ${run.title}`);
      items.push(link);
    }
    for (const item of items) { const li = make("li"); li.append(item); list.append(li); }
    node.append(list);
  }
  return node;
}

let drawn = "";

async function refresh(focus = false) {
  clearTimeout(waiting);
  const found = await ask("state");
  if (found.error) { refuse(found.error); return; }
  const runs = found.runs;
  $("releases").hidden = !runs.length;
  // Drawn anew only where something changed, so that the focus stays.
  if (drawn !== JSON.stringify(runs)) {
    const before = drawn && new Map(JSON.parse(drawn).map(run => [run.id, run.state]));
    drawn = JSON.stringify(runs);
    $("runs").replaceChildren(...runs.map(card));
    const ended = runs.find(run => before && before.get(run.id) === "running" && run.state !== "running");
    const latest = runs.find(run => run.state === "done");
    if (ended?.state === "done") show(ended, true);
    else if (latest && (shown === null || focus)) show(latest, false);
    if (focus || ended) { $("releases-title").focus(); $("releases").scrollIntoView(); }
    if (ended) expected();
  }
  if (found.ledger?.error) refuse(found.ledger.error);
  else if (found.ledger) account(found.ledger);
  if (runs.some(run => run.state === "running")) waiting = setTimeout(refresh, 400);
}

function account(ledger) {
  for (const name of ["limit", "spent", "left"]) $(name).textContent = ledger[name];
  $("part").value = ledger.part;
  $("no-entries").hidden = ledger.entries.length > 0;
  $("charges").hidden = !ledger.entries.length;
  $("changes").hidden = !ledger.changes.length;
  const when = time => make("td", time.replace("T", " ").replace("+00:00", ""));
  const name = text => make("td", text, {className: "name"});
  fill("entries", ledger.entries, entry => [make("td", entry.id), name(entry.label),
    make("td", entry.mu), make("td", entry.rho), when(entry.time)]);
  fill("limits", ledger.changes, change => [make("td", change.id), name(change.old),
    name(change.new), make("td", change.charges), when(change.time)]);
}

function fill(table, records, cells) {
  const rows = records.toReversed().map(record => {
    const row = make("tr");
    row.append(...cells(record));
    return row;
  });
  document.querySelector(`#${table} tbody`).replaceChildren(...rows);
}

// --- beginning --------------------------------------------------------------------------------

$("slider").addEventListener("input", () => {
  $("epsilon").value = Number((10 ** $("slider").valueAsNumber).toPrecision(2));
});
const choose = on => () => {
  for (const [i, c] of columns.entries()) {
    const index = on && "index" in lines[i].dataset;
    if (!lines[i].hidden && !c.use.disabled && !index) c.use.checked = on;
  }
  changed();
};
$("all").addEventListener("click", choose(true));
$("none").addEventListener("click", choose(false));
$("find")?.addEventListener("input", () => {
  const text = $("find").value.toLowerCase();
  for (const line of lines) line.hidden = !line.dataset.column.toLowerCase().includes(text);
});
for (const event of ["input", "change"]) form.addEventListener(event, changed);
recall();
settle();
expected();
refresh();
