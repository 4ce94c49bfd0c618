// Keeps a page true while it is looked at: when something happened, the page is asked for again and its live parts are
// put in place of the old ones. Without this file pages are the same, but stay as they were.

const PULSE_MS = 2000;
const UNFINISHED_MS = 1000;
const MOST_MS = 30_000;
const { pulseUrl } = document.body.dataset;

let pulse = document.body.dataset.pulse;
let failures = 0;

async function ask(url) {
  const response = await fetch(url, { headers: { accept: "text/html" }, cache: "no-cache" });
  // A page that can't be made now is shown as such, unless it was there before.
  if (!response.ok && response.status !== 503) throw new Error(String(response.status));
  return response.text();
}

async function beat() {
  const isUnfinished = "unfinished" in document.body.dataset;
  const now = isUnfinished ? undefined : await ask(pulseUrl);
  if (isUnfinished || now !== pulse) {
    renew(new DOMParser().parseFromString(await ask(location.href), "text/html"));
    pulse = now ?? document.body.dataset.pulse;
  }
}

function renew(page) {
  const parts = [...document.querySelectorAll("[data-live]")];
  if (parts.some(({ id }) => !page.getElementById(id))) {
    // Another page altogether: an error that is over, or the first one.
    if (!page.getElementById("error")) location.reload();
    return;
  }
  for (const part of parts) replace(part, page.getElementById(part.id));
  if (!("unfinished" in page.body.dataset)) delete document.body.dataset.unfinished;
}

// Rows that stay keep their elements, and with them pictures and focus; new ones are marked.
function replace(old, fresh) {
  if (old.isEqualNode(fresh)) return;
  if (old.contains(document.activeElement) && document.activeElement.matches("input, video, audio")) return;
  const known = new Map([...old.children].filter(({ dataset }) => dataset.key).map((row) => [row.dataset.key, row]));
  const children = [...fresh.childNodes].map((child) => {
    const before = known.get(child.dataset?.key);
    if (before?.isEqualNode(child)) return before;
    const added = document.importNode(child, true);
    if (known.size > 0 && added.dataset?.key && !before) added.classList.add("new");
    return added;
  });
  old.replaceChildren(...children);
}

function age() {
  for (const time of document.querySelectorAll("time")) {
    const seconds = (Date.now() - Date.parse(time.dateTime)) / 1000;
    const [size, unit] = [
      [86_400, "d"],
      [3600, "h"],
      [60, "min"],
    ].find(([size]) => Math.abs(seconds) >= size) ?? [1, "s"];
    const text = `${Math.floor(Math.abs(seconds) / size).toLocaleString("en-US")} ${unit}`;
    time.textContent = seconds >= 0 ? `${text} ago` : `in ${text}`;
  }
}

function next() {
  const isUnfinished = "unfinished" in document.body.dataset;
  const pause = Math.min((isUnfinished ? UNFINISHED_MS : PULSE_MS) * 2 ** failures, MOST_MS);
  setTimeout(async () => {
    try {
      if (document.visibilityState === "visible") await beat();
      failures = 0;
    } catch {
      failures += 1;
    }
    age();
    next();
  }, pause);
}

// Whoever turns many pages may meet the limit of requests with a picture: it is asked for once more.
const RETRY_MS = 3000;
const retried = new WeakSet();
document.addEventListener(
  "error",
  ({ target }) => {
    if (!(target instanceof HTMLImageElement) || retried.has(target)) return;
    retried.add(target);
    setTimeout(() => (target.src = target.getAttribute("src")), RETRY_MS);
  },
  true,
);

if (document.querySelector("[data-live]")) next();
