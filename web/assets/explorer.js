// Keeps a page true while it is looked at: when something happened, the page is asked for again and what is different
// is changed in place. Without this file pages are the same, but stay as they were.

const PULSE_MS = 2000;
const UNFINISHED_MS = 1000;
const MOST_MS = 10_000;
/** The service takes less, or has gone without a word. */
const ANSWER_WITHIN_MS = 15_000;
/** As the server writes them. */
const DATES_FROM_SECONDS = 30 * 86_400;
const { dataset } = document.body;
const main = document.querySelector("main[data-live]");
const away = document.getElementById("away");

let failures = 0;

async function ask(url) {
  const signal = AbortSignal.timeout(ANSWER_WITHIN_MS);
  const response = await fetch(url, { headers: { accept: "text/html" }, cache: "no-cache", signal });
  // What is wrong with a request is a page that says so. Where a page can't be made now, what is shown stays.
  if (response.status === 429 || response.status >= 500) throw new Error(String(response.status));
  return response.text();
}

async function beat() {
  if (!("unfinished" in dataset) && (await ask(dataset.pulseUrl)) === dataset.pulse) return;
  const page = new DOMParser().parseFromString(await ask(location.href), "text/html");
  // Where nothing but the time has changed, nothing is touched.
  for (const root of [main, page]) age(root);
  const focused = document.activeElement;
  change(main, page.getElementById("main"));
  // What was moved has lost it.
  if (document.activeElement !== focused) focused.focus({ preventScroll: true });
  document.title = page.title;
  dataset.pulse = page.body.dataset.pulse;
  if ("unfinished" in page.body.dataset) dataset.unfinished = "";
  else delete dataset.unfinished;
}

// Elements that stay are the same ones, and with them focus, pictures, films and how far something is scrolled. Rows of
// lists are told by their keys, and new ones are marked.
function change(old, fresh) {
  if (old.isEqualNode(fresh)) return;
  for (const name of old.getAttributeNames())
    if (!fresh.hasAttribute(name) && name !== "open") old.removeAttribute(name);
  for (const { name, value } of fresh.attributes) if (old.getAttribute(name) !== value) old.setAttribute(name, value);

  const left = [...old.children];
  const isList = left.some((child) => child.dataset.key);
  const children = [...fresh.childNodes].map((child) => {
    const place = child instanceof Element ? left.findIndex((one) => nameOf(one) === nameOf(child)) : -1;
    if (place >= 0) {
      const [same] = left.splice(place, 1);
      change(same, child);
      return same;
    }
    const added = document.importNode(child, true);
    if (isList && added.dataset?.key) added.classList.add("new");
    return added;
  });
  const gone = [...old.childNodes].filter((child) => !children.includes(child));
  for (const child of gone) child.remove();
  // Moving an element takes the focus from it: only those are moved whose place in the list has changed.
  let place = old.firstChild;
  for (const child of children) {
    if (child === place) place = place.nextSibling;
    else old.insertBefore(child, place);
  }
}

const nameOf = ({ localName, dataset, id, attributes }) =>
  `${localName} ${dataset.key ?? (id || attributes["aria-labelledby"]?.value)}`;

function age(root) {
  for (const time of root.querySelectorAll("time")) {
    const seconds = (Date.now() - Date.parse(time.dateTime)) / 1000;
    const [size, unit] = [
      [86_400, "d"],
      [3600, "h"],
      [60, "min"],
    ].find(([size]) => Math.abs(seconds) >= size) ?? [1, "s"];
    const text = `${Math.floor(Math.abs(seconds) / size).toLocaleString("en-US")} ${unit}`;
    const near = seconds >= 0 ? `${text} ago` : `in ${text}`;
    const said = Math.abs(seconds) < DATES_FROM_SECONDS ? near : time.dateTime.split("T")[0];
    if (time.textContent !== said) time.textContent = said;
  }
}

function next() {
  const isUnfinished = "unfinished" in dataset;
  const pause = Math.min((isUnfinished ? UNFINISHED_MS : PULSE_MS) * 2 ** failures, MOST_MS);
  setTimeout(async () => {
    try {
      if (document.visibilityState === "visible") await beat();
      failures = 0;
    } catch {
      failures += 1;
    }
    tell();
    age(main);
    next();
  }, pause);
}

// A single answer that doesn't come isn't worth a word.
function tell() {
  const text = failures > 1 ? "The service doesn’t answer now: this page is as it was before." : "";
  if (away.textContent !== text) away.textContent = text;
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

// Browsers allow this on https and on the machine itself. Elsewhere there are no buttons for it.
const COPIED_MS = 1500;
if (navigator.clipboard) {
  document.documentElement.classList.add("can-copy");
  document.addEventListener("click", ({ target }) => {
    const button = target.closest("[data-copy]");
    if (button) void copy(button);
  });
}

async function copy({ dataset, children: [word] }) {
  word.textContent = await navigator.clipboard.writeText(dataset.copy).then(
    () => "Copied",
    () => "Not copied",
  );
  setTimeout(() => (word.textContent = "Copy"), COPIED_MS);
}

if (main) next();
