// Copy what is typed into a terminal or into Python, without prompts and without what is printed.
document.addEventListener("click", ({ target }) => {
  const block = target.closest(".language-console, .language-pycon");
  const button = target.closest(".md-code__button");
  if (!block || !button) return;
  let typed = false;
  const lines = block.querySelector("code").textContent.split("\n").filter((line, place, lines) => {
    typed = /^(\$|>>>|\.\.\.)( |$)/.test(line) || (typed && lines[place - 1].endsWith("\\"));
    return typed;
  });
  button.dataset.clipboardText = lines.map((line) => line.replace(/^(\$|>>>|\.\.\.)( |$)/, "")).join("\n");
}, true);
