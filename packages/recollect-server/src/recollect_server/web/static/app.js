/* Keyboard shortcuts, dialogs and copying. Every page also works without scripts. */
(() => {
  "use strict";

  const typing = (element) => element.closest("input:not([type=checkbox], [type=radio]), textarea, select, [contenteditable]");
  const shortcutsAreOn = () => localStorage.getItem("shortcuts") !== "off";
  const items = () => [...document.querySelectorAll("[data-item]")];
  let going = false;
  let pause = 0;

  function move(step) {
    const all = items();
    if (!all.length) return;
    const at = all.findIndex((each) => each.contains(document.activeElement));
    const next = all[Math.min(all.length - 1, Math.max(0, at + step))];
    const target = next.matches("a, button, [tabindex]") ? next : next.querySelector("a, button");
    target?.focus();
    next.scrollIntoView({ block: "nearest" });
  }

  function press(key) {
    const near = document.activeElement?.closest("[data-item]");
    const found = (near && near.querySelector(`[data-key="${CSS.escape(key)}"]`))
      || (!near && items()[0]?.querySelector(`[data-key="${CSS.escape(key)}"]`))
      || document.querySelector(`main [data-key="${CSS.escape(key)}"]:not([data-item] *)`);
    if (!found) return false;
    found.focus();
    found.click();
    return true;
  }

  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented) return;
    if (event.key === "Escape" && typing(event.target)) { event.target.blur(); return; }
    const form = document.querySelector(".acts details[open] > form");
    if (event.key === "Escape" && form) { form.parentElement.open = false; form.parentElement.querySelector("summary").focus(); return; }
    // In an open form, letters are text, also where no field has the focus.
    if (typing(event.target) || form || document.querySelector("dialog[open]") || !shortcutsAreOn()) return;
    const place = going && document.querySelector(`.side [data-go="${CSS.escape(event.key)}"]`);
    going = false;
    if (place) { place.click(); event.preventDefault(); return; }
    switch (event.key) {
      case "/": document.querySelector("#find")?.select(); document.querySelector("#find")?.focus(); break;
      case "?": document.querySelector("#keys")?.showModal(); break;
      case "g": going = true; break;
      case "j": move(1); break;
      case "k": move(-1); break;
      case "z": document.querySelector("[data-undo]")?.click(); break;
      default: if (event.key.length !== 1 || !press(event.key)) return;
    }
    event.preventDefault();
  });

  document.addEventListener("click", (event) => {
    const opener = event.target.closest("[data-opens]");
    if (opener) document.getElementById(opener.dataset.opens)?.showModal();
    if (event.target.closest("[data-closes]")) event.target.closest("dialog")?.close();
    const theme = event.target.closest("[data-theme-toggle]");
    if (theme) {
      const root = document.documentElement;
      const dark = root.dataset.theme ? root.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
      root.dataset.theme = dark ? "light" : "dark";
      document.cookie = `recollect_theme=${root.dataset.theme}; path=/; max-age=31536000; samesite=strict`;
    }
    const copied = event.target.closest("[data-copies]");
    if (copied) navigator.clipboard.writeText(document.getElementById(copied.dataset.copies).textContent);
    const all = event.target.closest("[data-selects-all]");
    if (all) all.closest("form").querySelectorAll("input[type=checkbox][name=id]").forEach((each) => { each.checked = all.checked; });
  });

  document.addEventListener("toggle", (event) => {
    if (event.target.matches(".acts details[open]")) event.target.querySelector("textarea, input:not([type=hidden])")?.focus();
  }, true);

  document.addEventListener("change", (event) => {
    if (event.target.id === "shortcuts") localStorage.setItem("shortcuts", event.target.checked ? "on" : "off");
    if (event.target.matches("[data-submits][type=range]")) submitAfterPause(event.target);
    else if (event.target.matches("[data-submits]")) event.target.form.requestSubmit();
  });

  // Each press of an arrow key is a change; submit once after the last.
  function submitAfterPause(slider) {
    clearTimeout(pause);
    pause = setTimeout(() => { if (slider.isConnected) slider.form.requestSubmit(); }, 400);
  }

  document.addEventListener("input", (event) => {
    if (event.target.id !== "day") return;
    const told = event.target.form.querySelector("output");
    const day = new Date(`${told.dataset.first}T00:00:00Z`);
    day.setUTCDate(day.getUTCDate() + Number(event.target.value));
    told.textContent = event.target.value === told.dataset.days ? "now" : day.toISOString().slice(0, 10);
  });

  document.addEventListener("submit", (event) => {
    const asks = event.submitter?.dataset.asks || event.target.dataset.asks;
    if (asks && !window.confirm(asks)) event.preventDefault();
  }, true);

  function prepare() {
    const box = document.querySelector("#shortcuts");
    if (box) box.checked = shortcutsAreOn();
    // On a phone, tabs scroll sideways.
    document.querySelectorAll(".side [aria-current], .tabs [aria-current]").forEach((tab) => {
      const bar = tab.closest("nav");
      bar.scrollLeft = tab.offsetLeft - bar.offsetLeft - (bar.clientWidth - tab.offsetWidth) / 2;
    });
  }
  document.addEventListener("DOMContentLoaded", prepare);
})();
