/* Forms with `data-progress`: sends them, shows how far the work is by server-sent events, and then the page with
   its outcome. `data-progress-stages` names what is under way after each step. Without this, the page takes its time. */
(() => {
  "use strict";

  async function* events(body) {
    const reader = body.pipeThrough(new TextDecoderStream()).getReader();
    let text = "";
    for (;;) {
      const { value, done } = await reader.read();
      if (done) return;
      text += value;
      const parts = text.split("\n\n");
      text = parts.pop();
      for (const part of parts) {
        const lines = part.split("\n");
        const field = (name) => lines.find((line) => line.startsWith(`${name}: `))?.slice(name.length + 2);
        if (field("data")) yield { name: field("event"), data: JSON.parse(field("data")) };
      }
    }
  }

  function body(form, submitter) {
    const data = new FormData(form, submitter);
    return form.enctype === "multipart/form-data" ? data : new URLSearchParams(data);
  }

  function showPage(html) {
    const page = new DOMParser().parseFromString(html, "text/html");
    document.title = page.title;
    document.querySelector("main").replaceWith(document.adoptNode(page.querySelector("main")));
    window.htmx?.process(document.querySelector("main"));
    document.querySelector("main").focus();
    window.scrollTo(0, 0);
  }

  function words(form, { done, total }) {
    const stages = form.dataset.progressStages?.split("|");
    if (stages) return `${stages[done] || "Working"}…`;
    return total ? `${form.dataset.progress} ${Math.floor(100 * done / total)} %` : form.dataset.progress;
  }

  async function send(form, submitter) {
    const place = form.querySelector("[data-progress-bar]");
    const bar = place.querySelector("progress");
    const told = place.querySelector("[data-progress-words]");
    const say = (text, kind) => { told.textContent = text; told.className = kind; };
    const buttons = [...form.querySelectorAll("button")];
    const sent = body(form, submitter);
    place.hidden = false;
    bar.hidden = false;
    bar.removeAttribute("value");
    say(form.dataset.progress, "soft small");
    // Not `disabled`, which would take the focus away from the button.
    buttons.forEach((each) => each.setAttribute("aria-disabled", "true"));
    try {
      const answer = await fetch(form.action, { method: "POST", body: sent, headers: { Accept: "text/event-stream" } });
      const type = answer.headers.get("content-type") || "";
      if (type.startsWith("text/html")) { showPage(await answer.text()); return; }
      if (!type.startsWith("text/event-stream")) {
        const problem = await answer.json().catch(() => ({}));
        throw new Error(problem.detail || problem.message || `The server answered with ${answer.status}; try again.`);
      }
      for await (const { name, data } of events(answer.body)) {
        if (name === "problem") throw new Error(data.detail);
        if (name === "result" && data.href) { location.assign(data.href); return; }
        if (name === "result") { showPage(data.page); return; }
        if (data.total) { bar.max = data.total; bar.value = data.done; }
        say(words(form, data), "soft small");
      }
      throw new Error("The server ended before the work did; look whether it runs, and try again.");
    } catch (error) {
      bar.hidden = true;
      say(error.message, "bad");
      buttons.forEach((each) => each.removeAttribute("aria-disabled"));
    }
  }

  document.addEventListener("submit", (event) => {
    if (!event.target.matches("[data-progress]") || event.defaultPrevented) return;
    event.preventDefault();
    if (!event.target.querySelector("[aria-disabled]")) send(event.target, event.submitter);
  });
})();
