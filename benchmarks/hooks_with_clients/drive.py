"""Drives the real clients with our hooks and a scripted model on loopback, and says what reached whom.

    npm install --prefix DIR @anthropic-ai/claude-code @openai/codex @google/gemini-cli opencode-ai
    python benchmarks/hooks_with_clients/drive.py DIR [CLIENT …]

For each client, in an empty home: a memory that knows one thing, `recollect hooks install`, a prompt that the
thing bears on, another that it does not. Did the model read the memory? Were the prompt and the answer kept?
Did the memory's own words come back as something new? It ends with 1 where an answer is not as it should be.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from scripted_model import ScriptedModel

SOURCE = Path(__file__).parents[2] / "packages" / "recollect" / "src"
KNOWN = "Marisol Vega is allergic to hazelnuts and walnuts"
ASKED = "What should I avoid when I bake a cake for Marisol Vega, is she allergic to anything?"
NEW = "Use almond-free sponge and serve it with pears."
ANSWER = f"As you told me, {KNOWN}. {NEW}"
SECONDS = 120


def main(prefix: str, *names: str) -> int:
    failed = False
    for name, run in CLIENTS.items():
        program = Path(prefix).resolve() / "node_modules" / ".bin" / PROGRAMS[name]
        if names and name not in names:
            continue
        if not program.exists():
            print(f"{name}: skipped, there is no {program}")
            continue
        with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
            found = driven(name, run, program, Path(folder))
        print(json.dumps(found, indent=1))
        failed |= not all(found["checks"].values())
    return int(failed)


def driven(name: str, run: Callable[..., Any], program: Path, home: Path) -> dict[str, Any]:
    work = home / "work"
    work.mkdir()
    environ = {
        "PATH": os.environ["PATH"],
        "HOME": str(home),
        "PYTHONPATH": str(SOURCE),
        "RECOLLECT_STORE": str(home / "memory.db"),
        "RECOLLECT_HOOK_DEADLINE_MS": "5000",  # a proof that it works, not of how fast
        "NO_COLOR": "1",
        "CI": "1",
    }

    def recollect(*words: str) -> str:
        typed = [sys.executable, "-m", "recollect.cli.main", *words]
        return subprocess.run(typed, env=environ, capture_output=True, text=True, check=True).stdout

    if name == "gemini":  # it runs no prompt before somebody chose how to sign in
        (home / ".gemini").mkdir()
        chosen = {"security": {"auth": {"selectedType": "gemini-api-key"}}}
        (home / ".gemini" / "settings.json").write_text(json.dumps(chosen))
    recollect("remember", KNOWN)
    recollect("hooks", "install", name)
    with ScriptedModel(ANSWER) as model:
        first = run(program, work, environ, model.url, ASKED)
        asked_first = "\n".join(body for _, body in model.requests)
        second = run(program, work, environ, model.url, "Write a haiku about rain.")
        requests = list(model.requests)
    wait_for_captures(recollect, 4)
    status = json.loads(recollect("hooks", "status", "--json"))
    kept = json.loads(recollect("list", "--kind", "message", "--limit", "50", "--json"))
    notes = json.loads(recollect("list", "--limit", "50", "--json"))
    version = subprocess.run([program, "--version"], env=environ, capture_output=True, text=True, check=False)
    recollect("hooks", "uninstall", name)
    texts = [row["text"] for row in kept["memories"]]
    counts: dict[str, Any] = next((row for row in status["clients"] if row["client"] == name), {})
    return {
        "client": name,
        "version": version.stdout.strip().splitlines()[-1:],
        "requests": [path for path, _ in requests],
        "checks": {
            "the model read the memory": KNOWN in asked_first,
            "in our block": "recollect-memory-" in asked_first,
            "the prompt was kept once": sum(ASKED in text for text in texts) == 1,
            "the answers were kept": texts.count(NEW) == 2,
            "nothing recalled was kept as new": not any(
                KNOWN in text or "recollect-memory" in text for text in texts
            ),
            "no note was added": [row["text"] for row in notes["memories"]] == [KNOWN],
            "no error": counts.get("errors") == 0,
        },
        "status": counts,
        "messages": texts,
        "ended": [done.returncode for done in (first, second)],
        "said": [(done.stdout + done.stderr)[-300:] for done in (first, second) if done.returncode],
    }


def wait_for_captures(recollect: Callable[..., str], wanted: int) -> None:
    for _ in range(60):
        status = json.loads(recollect("hooks", "status", "--json"))
        if sum(row["captured"] for row in status["clients"]) >= wanted:
            return
        time.sleep(0.5)


def ran(command: list[Any], work: Path, environ: dict[str, str]) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [str(word) for word in command],
        cwd=work,
        env=environ,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=SECONDS,
        check=False,
    )


def claude(program: Path, work: Path, environ: dict[str, str], url: str, prompt: str) -> Any:
    own = {
        "ANTHROPIC_BASE_URL": url,
        "ANTHROPIC_API_KEY": "none",
        "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
        "DISABLE_AUTOUPDATER": "1",
    }
    return ran([program, "-p", prompt], work, {**environ, **own})


def codex(program: Path, work: Path, environ: dict[str, str], url: str, prompt: str) -> Any:
    described = f'name="scripted",base_url="{url}/v1",wire_api="responses",env_key="NONE_KEY"'
    provider = f"model_providers.scripted={{{described}}}"
    words = ["exec", "--skip-git-repo-check", "--dangerously-bypass-hook-trust", "-c", provider]
    words += ["-c", 'model_provider="scripted"', "-m", "scripted", prompt]
    return ran([program, *words], work, {**environ, "NONE_KEY": "none"})


def gemini(program: Path, work: Path, environ: dict[str, str], url: str, prompt: str) -> Any:
    own = {"GOOGLE_GEMINI_BASE_URL": url, "GEMINI_API_KEY": "none", "GEMINI_CLI_TRUST_WORKSPACE": "true"}
    return ran([program, "-m", "gemini-2.5-flash", "-p", prompt], work, {**environ, **own})


def opencode(program: Path, work: Path, environ: dict[str, str], url: str, prompt: str) -> Any:
    provider = {
        "npm": "@ai-sdk/openai-compatible",
        "name": "Scripted",
        "options": {"baseURL": f"{url}/v1", "apiKey": "none"},
        "models": {"scripted": {"name": "scripted"}},
    }
    config = {"provider": {"scripted": provider}, "share": "disabled", "autoupdate": False}
    (work / "opencode.json").write_text(json.dumps(config))
    return ran([program, "run", "-m", "scripted/scripted", prompt], work, environ)


CLIENTS = {"claude-code": claude, "codex": codex, "gemini": gemini, "opencode": opencode}
PROGRAMS = {"claude-code": "claude", "codex": "codex", "gemini": "gemini", "opencode": "opencode"}

if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
