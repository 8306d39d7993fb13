// What a page does besides following links: it stays up to date, hears keys, and copies commands.
"use strict"

const NAVIGATION_MS = 1500 // after `g`
const LEAVING_MS = 200 // from leaving a field to the click that one left it for

const main = () => document.getElementById("main")

// --- live -------------------------------------------------------------------------------------

let isStale = false

const say = (text, kind) => {
  const place = document.getElementById("live")
  place.className = kind
  place.textContent = text
}

document.addEventListener("htmx:sseOpen", () => {
  say("live", "live")
  document.getElementById("anew").hidden = true
  if (isStale) refresh() // it was away, and may have missed something
})

document.addEventListener("htmx:sseError", async () => {
  isStale = true
  say("not connected", "lost")
  const answer = await fetch("/", { method: "HEAD" }).catch(() => null)
  document.getElementById("anew").hidden = answer?.status !== 401
})

// A page that nobody sees asks for nothing, and neither does one in which somebody types.
document.addEventListener("htmx:beforeRequest", (event) => {
  if (event.detail.elt.id !== "main") return
  const isTyping = document.activeElement?.closest("#main textarea, #main .answer")
  if (!document.hidden && !isTyping) return
  isStale = true
  event.preventDefault()
})

document.addEventListener("visibilitychange", () => {
  if (!document.hidden && isStale) refresh()
})

document.addEventListener("htmx:sendError", () => {
  isStale = true
})

document.addEventListener("focusout", () => {
  if (isStale && !document.hidden) setTimeout(refresh, LEAVING_MS)
})

const refresh = () => {
  isStale = false
  htmx.trigger(main(), "refresh")
}

// What the user has unfolded, typed, chosen or loaded stays as it is.
const isTheUsers = {
  open: (node) => node.nodeName === "DETAILS",
  hidden: (node) => !node.hidden,
  value: (node) => node.nodeName !== "PROGRESS" && node.value !== node.defaultValue,
  checked: (node) => node.checked !== node.defaultChecked,
  selected: (node) => node.selected !== node.defaultSelected,
}
Idiomorph.defaults.callbacks.beforeAttributeUpdated = (name, node) => !isTheUsers[name]?.(node)
Idiomorph.defaults.callbacks.beforeNodeMorphed = (node) => !node.dataset?.loaded

// What a button came to is read first, and is gone at the next change.
let hadFocus = false
document.addEventListener("htmx:beforeSwap", () => {
  hadFocus = document.activeElement?.id === "told"
})
document.addEventListener("htmx:afterSwap", ({ detail }) => {
  if (detail.target.dataset.keep !== undefined) detail.target.dataset.loaded = "yes"
  prepare(document)
  if (hadFocus && document.activeElement === document.body) main().focus() // it went with its line
})

// --- times --------------------------------------------------------------------------------------

const ago = (seconds) => {
  if (seconds < 60) return "now"
  if (seconds < 3600) return `${Math.floor(seconds / 60)} min ago`
  if (seconds < 86400) return `${Math.floor(seconds / 3600)} h ago`
  const days = Math.floor(seconds / 86400)
  return `${days} day${days === 1 ? "" : "s"} ago`
}

setInterval(() => {
  if (document.hidden) return
  for (const time of document.querySelectorAll("time[datetime]")) {
    const text = ago((Date.now() - Date.parse(time.dateTime)) / 1000)
    if (time.textContent !== text) time.textContent = text
  }
}, 10_000)

// --- copying --------------------------------------------------------------------------------------

const prepare = (root) => {
  for (const button of root.querySelectorAll("button.copy[hidden]")) button.hidden = false
}

document.addEventListener("click", async ({ target }) => {
  const button = target.closest?.("button.copy")
  if (!button) return
  await navigator.clipboard.writeText(button.dataset.copy)
  button.textContent = "copied"
  setTimeout(() => (button.textContent = "copy"), NAVIGATION_MS)
})

// --- keys -----------------------------------------------------------------------------------------

let isGoing = false

const places = () =>
  Object.fromEntries([...document.querySelectorAll(".top nav a")].map((a) => [a.pathname[1] ?? "o", a]))

const showKeys = () => document.getElementById("keys").showModal()

document.addEventListener("keydown", (event) => {
  const keys = document.getElementById("keys")
  if (event.key === "?" && keys.open) return keys.close()
  const asked = document.querySelector("details.ask[open]")
  if (event.key === "Escape" && asked && !keys.open) {
    asked.open = false
    asked.querySelector("summary").focus()
  }
  if (event.ctrlKey || event.metaKey || event.altKey) return
  if (event.target.closest("input, textarea, select, dialog")) return
  const wasGoing = isGoing
  isGoing = false
  if (wasGoing) return places()[event.key]?.click()
  if (event.key === "g") {
    isGoing = true
    setTimeout(() => (isGoing = false), NAVIGATION_MS)
  } else if (event.key === "?") showKeys()
  else if (event.key === "/") {
    const field = document.querySelector("input[type=search]")
    if (field) field.focus()
    else location.assign("/loops#q")
    event.preventDefault()
  }
})

if (location.hash === "#q") document.getElementById("q")?.focus()
else document.getElementById("told")?.focus()

const help = document.getElementById("help")
help.addEventListener("click", showKeys)
help.hidden = false
prepare(document)
