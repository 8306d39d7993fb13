// The theme that was chosen. It is set before anything is drawn, so that nothing flashes.
"use strict";

(() => {
  const THEMES = ["auto", "light", "dark"];

  function chosen() {
    const found = localStorage.getItem("theme");
    return THEMES.includes(found) ? found : "auto";
  }

  function apply() {
    const root = document.documentElement;
    if (chosen() === "auto") delete root.dataset.theme;
    else root.dataset.theme = chosen();
  }

  function turn() {
    localStorage.setItem("theme", THEMES[(THEMES.indexOf(chosen()) + 1) % THEMES.length]);
    apply();
  }

  function follow(button) {
    const name = () => (button.textContent = `Theme: ${chosen()}`);
    button.addEventListener("click", () => {
      turn();
      name();
    });
    name();
    button.hidden = false;
  }

  apply();
  document.addEventListener("DOMContentLoaded", () => {
    const button = document.getElementById("theme");
    if (button) follow(button);
  });
})();
