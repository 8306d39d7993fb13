// Follows what changes: the parts of a page that are about it are drawn anew.
// Without it a page is as it was when it was asked for.

import { byId, page, say } from "./page.js";

const REST_MS = 1000; // between two looks of one page, however much changes
const AGAIN_MS = 5000; // after a look that failed

const stale = new Set(); // ids of parts that are about something that changed
const news = new Set(); // ids of those of which more changed than the time
let timer = 0;
let lookedAt = -REST_MS;
let looking = false;
let source = null;
let hasMissed = document.hidden; // changes that nobody told us of, maybe

function parts() {
  return [...document.querySelectorAll("[data-topics]")].filter((part) => part.id);
}

function isAbout(part, topics) {
  return part.dataset.topics.split(" ").some((topic) => topics.includes(topic));
}

// Whatever somebody types or marks there is not taken away.
function isBusy(part) {
  const active = document.activeElement;
  const marked = getSelection();
  const isTyping = part.contains(active) && active.matches("input, select, textarea");
  return isTyping || (!marked.isCollapsed && part.contains(marked.anchorNode));
}

async function look() {
  const wanted = parts().filter((part) => stale.has(part.id) && !isBusy(part));
  if (document.hidden || wanted.length === 0) return;
  wanted.forEach((part) => stale.delete(part.id)); // before the page is asked for: it may change meanwhile
  const fresh = await page(location.href).catch(() => null);
  if (!fresh) return again(wanted);
  document.title = fresh.title;
  for (const part of wanted) update(part, fresh.getElementById(part.id));
}

// Nobody tells of a change twice.
function again(wanted) {
  wanted.forEach((part) => stale.add(part.id));
  timer ||= setTimeout(lookOnce, AGAIN_MS);
}

function update(part, other) {
  if (!other) location.reload(); // the page is another one now
  else if (isBusy(part)) stale.add(part.id);
  else if (other.innerHTML === part.innerHTML) news.delete(part.id);
  else replace(part, other);
}

// What is open stays open, what is shut stays shut, and what has the focus keeps it.
function replace(part, other) {
  const wasOpen = new Map([...part.querySelectorAll("details")].map((found) => [nameOf(found), found.open]));
  const focus = place(part, document.activeElement);
  const scrolled = scrolling(part).map((found) => [found.scrollLeft, found.scrollTop]);
  part.replaceChildren(...document.importNode(other, true).childNodes);
  for (const found of part.querySelectorAll("details")) found.open = wasOpen.get(nameOf(found)) ?? found.open;
  scrolling(part).forEach((found, n) => scrolled[n] && found.scrollTo(...scrolled[n]));
  focus?.()?.focus({ preventScroll: true });
  if (!news.delete(part.id)) return;
  part.classList.add("fresh");
  setTimeout(() => part.classList.remove("fresh"), 1500);
}

function nameOf(details) {
  return details.id || details.querySelector("summary")?.textContent;
}

function scrolling(part) {
  return [...part.querySelectorAll(".scroll, pre")];
}

// How to find the element again: by its name, by where it leads, or by its number.
function place(part, element) {
  if (!part.contains(element)) return null;
  const all = () => [...part.querySelectorAll("a[href], button, summary, [tabindex]")];
  const number = all().indexOf(element);
  const link = element.getAttribute("href");
  const isLike = (other) => (element.id ? other.id === element.id : other.getAttribute("href") === link);
  return () => (element.id || link ? all().find(isLike) : all()[number]);
}

function soon() {
  if (stale.size) timer ||= setTimeout(lookOnce, Math.max(lookedAt + REST_MS - performance.now(), 0));
}

async function lookOnce() {
  timer = 0;
  lookedAt = performance.now();
  if (looking) return soon();
  looking = true;
  await look().catch(() => {});
  looking = false;
}

function mark(found, isNews = true) {
  found.forEach((part) => stale.add(part.id));
  if (isNews) found.forEach((part) => news.add(part.id));
  soon();
}

function follow() {
  if (source || document.hidden) return;
  source = new EventSource("/events");
  source.addEventListener("ready", (event) => {
    byId("live").hidden = false;
    say("");
    if (hasMissed || event.data !== document.body.dataset.changes) mark(parts());
    hasMissed = false;
  });
  source.addEventListener("changed", (event) => {
    const topics = JSON.parse(event.data);
    mark(parts().filter((part) => isAbout(part, topics)), topics.some((topic) => topic !== "time"));
  });
  source.addEventListener("error", () => {
    hasMissed = true;
    byId("live").hidden = true;
    say("not connected");
    if (source.readyState === EventSource.CLOSED) ask();
  });
}

// A source that is refused does not say why, and does not come back: the page tells.
function ask() {
  unfollow();
  page(location.href)
    .then((fresh) => fresh && setTimeout(follow, AGAIN_MS))
    .catch(() => setTimeout(follow, AGAIN_MS));
}

function unfollow() {
  hasMissed = true;
  source?.close();
  source = null;
}

function start() {
  // A browser has few connections to one server: only pages that are seen take one.
  document.addEventListener("visibilitychange", () => (document.hidden ? unfollow() : follow()));
  window.addEventListener("pagehide", unfollow);
  window.addEventListener("pageshow", follow);
  document.addEventListener("focusout", () => setTimeout(soon));
  document.addEventListener("selectionchange", soon);
  follow();
}

if (parts().length) start();

// On a phone the list of pages is wider than the screen. (`scrollIntoView` would make the first Tab
// begin there.)
const here = document.querySelector(".top [aria-current]");
const list = here?.closest("ul");
if (list) list.scrollLeft += here.getBoundingClientRect().right - list.getBoundingClientRect().right;
