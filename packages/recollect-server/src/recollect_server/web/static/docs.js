// Sends the form of an endpoint as a request, and shows the answer.
(() => {
"use strict";

for (const form of document.querySelectorAll("form.try")) {
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    send(form);
  });
}

// An address that names an endpoint shows it.
function openNamed() {
  const named = document.getElementById(decodeURIComponent(location.hash.slice(1)));
  if (named?.tagName === "DETAILS") {
    named.open = true;
    named.scrollIntoView();
  }
}
addEventListener("hashchange", openNamed);
openNamed();

async function send(form) {
  const status = form.querySelector(".status");
  const shown = form.querySelector(".answer");
  const headers = {};
  const query = new URLSearchParams();
  let path = form.dataset.path;
  for (const input of form.querySelectorAll("input[data-in]")) {
    if (input.value === "") continue;
    if (input.dataset.in === "path") path = path.replace(`{${input.name}}`, encodeURIComponent(input.value));
    else if (input.dataset.in === "header") headers[input.name] = input.value;
    else if ("list" in input.dataset) for (const one of input.value.split(",")) query.append(input.name, one.trim());
    else query.append(input.name, input.value);
  }
  const csrf = document.getElementById("try").dataset.csrf;
  if (csrf) headers["X-CSRF-Token"] = csrf;
  const body = form.elements.body?.value;
  if (body !== undefined) headers["Content-Type"] = "application/json";
  const url = query.size ? `${path}?${query}` : path;
  status.className = "status soft";
  status.textContent = "Waiting …";
  const began = performance.now();
  try {
    const answer = await fetch(url, { method: form.dataset.method, headers, body });
    const text = await answer.text();
    status.className = answer.ok ? "status good" : "status bad";
    status.textContent = `${answer.status} ${answer.statusText}, in ${Math.round(performance.now() - began)} ms`;
    shown.textContent = readable(text);
  } catch (error) {
    status.className = "status bad";
    status.textContent = `The server did not answer: ${error.message}`;
    shown.textContent = "";
  }
  shown.hidden = shown.textContent === "";
}

function readable(text) {
  try {
    return JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    return text;
  }
}
})();
