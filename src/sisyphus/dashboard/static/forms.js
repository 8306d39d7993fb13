// Asks before an action on the page itself, and sends forms. Without it they are links and forms.

import { byId, page } from "./page.js";

async function ask(link) {
  const dialog = byId("confirm");
  const body = (await page(link.href))?.getElementById("ask");
  if (!body) return location.assign(link.href);
  if (dialog.open) return;
  dialog.replaceChildren(...document.importNode(body, true).childNodes);
  const back = dialog.querySelector("[data-close]");
  back?.addEventListener("click", (event) => {
    event.preventDefault();
    dialog.close();
  });
  dialog.addEventListener("close", () => likeLink(link).focus(), { once: true });
  dialog.showModal();
  back?.focus(); // Enter alone does nothing that cannot be undone
}

// The link may have been drawn anew meanwhile.
function likeLink(link) {
  const all = [...document.querySelectorAll("a[data-ask]")];
  return all.includes(link) ? link : all.find((other) => other.href === link.href) ?? byId("main");
}

document.addEventListener("click", (event) => {
  const link = event.target.closest?.("a[data-ask]");
  const isPlain = event.button === 0 && !(event.metaKey || event.ctrlKey || event.shiftKey || event.altKey);
  if (!link || !isPlain) return;
  event.preventDefault();
  ask(link).catch(() => location.assign(link.href));
});

// What was done is told once: not when the page is loaded again.
const told = document.querySelector(".told");
if (told) {
  const here = new URL(location.href);
  here.searchParams.delete("done");
  history.replaceState(null, "", here);
  told.focus();
}

// What is sent once is not sent twice, until the page is come back to.
document.addEventListener("submit", (event) => {
  const form = event.target;
  if (form.method !== "post") return;
  if (form.dataset.sent) event.preventDefault();
  form.dataset.sent = "yes";
});
window.addEventListener("pageshow", () => {
  document.querySelectorAll("form[data-sent]").forEach((form) => delete form.dataset.sent);
});

// Filters apply as they are chosen; keys pass over many choices before the one that is meant.
let byKeys = false;
document.addEventListener("keydown", () => (byKeys = true), true);
document.addEventListener("pointerdown", () => (byKeys = false), true);
document.addEventListener("change", (event) => {
  if (!byKeys && event.target.matches("form.filters select, form.filters input[type=checkbox]")) {
    event.target.form.requestSubmit();
  }
});
