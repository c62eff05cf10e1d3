// Copy the commands of a terminal's block, without prompts and what they print.
document.addEventListener("click", ({ target }) => {
  const block = target.closest(".language-console");
  const button = target.closest(".md-code__button");
  if (!block || !button) return;
  let command = false;
  const commands = block.querySelector("code").textContent.split("\n").filter((line, place, lines) => {
    command = line.startsWith("$ ") || (command && lines[place - 1].endsWith("\\"));
    return command;
  });
  button.dataset.clipboardText = commands.map((line) => line.replace(/^\$ /, "")).join("\n");
}, true);
