// The theme that the user chose. It is set before anything is drawn, so that nothing flashes.
"use strict"

const THEMES = ["auto", "light", "dark"]

const chosen = () => {
  const found = localStorage.getItem("theme")
  return THEMES.includes(found) ? found : "auto"
}

const apply = () => {
  if (chosen() === "auto") delete document.documentElement.dataset.theme
  else document.documentElement.dataset.theme = chosen()
}

apply()

document.addEventListener("DOMContentLoaded", () => {
  const button = document.getElementById("theme")
  const name = () => (button.textContent = `Theme: ${chosen()}`)
  button.addEventListener("click", () => {
    localStorage.setItem("theme", THEMES[(THEMES.indexOf(chosen()) + 1) % THEMES.length])
    apply()
    name()
  })
  name()
  button.hidden = false
})
