/* Forms with data-progress: sends them, shows how far the work is, and goes to the page with its outcome. */
(() => {
  "use strict";
  if (window.recollectProgress) return;
  window.recollectProgress = true;

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

  async function send(form, submitter) {
    const place = form.querySelector("[data-progress-bar]");
    const bar = place.querySelector("progress");
    const words = place.querySelector("[data-progress-words]");
    const say = (text, kind) => { words.textContent = text; words.className = kind; };
    const buttons = [...form.querySelectorAll("button")];
    const sent = body(form, submitter);
    place.hidden = false;
    bar.hidden = false;
    bar.removeAttribute("value");
    say(form.dataset.progress, "soft small");
    // Not `disabled`, which would take the focus away from who pressed it.
    buttons.forEach((each) => each.setAttribute("aria-disabled", "true"));
    try {
      const answer = await fetch(form.action, { method: "POST", body: sent, headers: { Accept: "text/event-stream" } });
      if (!(answer.headers.get("content-type") || "").startsWith("text/event-stream")) {
        const problem = await answer.json().catch(() => ({}));
        throw new Error(problem.detail || problem.message || `The server answered with ${answer.status}; try again.`);
      }
      for await (const { name, data } of events(answer.body)) {
        if (name === "problem") throw new Error(data.detail);
        if (name === "result") { location.assign(data.href); return; }
        if (data.total) { bar.max = data.total; bar.value = data.done; }
        say(data.total ? `${form.dataset.progress} ${Math.floor(100 * data.done / data.total)} %` : form.dataset.progress, "soft small");
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
