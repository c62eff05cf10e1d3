/* Long work of a form with `data-works`: how far it is, by server-sent events, and then what it came to.
   Without this, the form waits and gets the page. `data-stages` names what is under way after each step. */
(() => {
  "use strict";

  async function* events(response) {
    const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
    let text = "";
    for (;;) {
      const { value, done } = await reader.read();
      if (done) return;
      text += value;
      for (let end = text.indexOf("\n\n"); end >= 0; end = text.indexOf("\n\n")) {
        const lines = text.slice(0, end).split("\n");
        text = text.slice(end + 2);
        const field = (name) => lines.find((line) => line.startsWith(`${name}: `))?.slice(name.length + 2);
        yield { name: field("event"), data: JSON.parse(field("data")) };
      }
    }
  }

  function show(status, words, done, total) {
    const said = document.createElement("p");
    said.textContent = words;
    status.replaceChildren(said);
    if (total) {
      const bar = document.createElement("progress");
      bar.max = total;
      bar.value = done;
      bar.setAttribute("aria-label", words);
      status.append(bar);
    }
  }

  function showPage(html) {
    const page = new DOMParser().parseFromString(html, "text/html");
    document.title = page.title;
    document.querySelector("main").replaceWith(document.adoptNode(page.querySelector("main")));
    window.htmx?.process(document.querySelector("main"));
    document.querySelector("main").focus();
    window.scrollTo(0, 0);
  }

  async function work(form, body) {
    const status = form.querySelector("[data-works-status]") || form.appendChild(document.createElement("div"));
    const buttons = [...form.querySelectorAll("button")];
    buttons.forEach((button) => { button.disabled = true; });
    const stages = (form.dataset.stages || "").split("|");
    show(status, form.dataset.works);
    try {
      const response = await fetch(form.action, { method: "POST", body, headers: { Accept: "text/event-stream" } });
      if (!response.headers.get("content-type")?.startsWith("text/event-stream")) {
        const told = await response.text();
        if (response.headers.get("content-type")?.startsWith("text/html")) { showPage(told); return; }
        throw new Error(JSON.parse(told).detail);
      }
      for await (const { name, data } of events(response)) {
        if (name === "progress") show(status, `${stages[data.done] || "Working"} …`, data.done, data.total);
        if (name === "problem") throw new Error(data.detail);
        if (name === "result" && data.location) { window.location.assign(data.location); return; }
        if (name === "result") { showPage(data.page); return; }
      }
      throw new Error("The connection ended before the work did; reload to see how far it came.");
    } catch (error) {
      show(status, error.message);
      status.firstChild.className = "bad";
      buttons.forEach((button) => { button.disabled = false; });
    }
  }

  document.addEventListener("submit", (event) => {
    const form = event.target.closest("form[data-works]");
    if (!form || event.defaultPrevented) return;
    event.preventDefault();
    work(form, new URLSearchParams(new FormData(form, event.submitter)));
  });
})();
