"""Every command, in an order in which each finds the memories that it names."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import calls
from calls import Clock, at

if TYPE_CHECKING:
    from collections.abc import Iterable

BEGINS = "2026-01-05T09:00:00+00:00"
HOURS_BETWEEN = 7

_TALK = """\
[{"role": "user", "speaker": "Jun", "content": "I love rye bread.", "at": "2026-01-04T18:00:00Z"},
 {"role": "assistant", "content": "Noted.", "at": "2026-01-04T18:01:00Z"}]
"""
_CHAT = """\
[{"uuid": "c-1", "name": "Tides", "created_at": "2024-05-06T11:00:00Z", "chat_messages": [
  {"uuid": "m-1", "sender": "human", "text": "When is low tide?", "created_at": "2024-05-06T12:00:00Z"},
  {"uuid": "m-2", "sender": "assistant", "text": "At noon.", "created_at": "2024-05-06T12:01:00Z"}]}]
"""
_OFFICIAL = """\
{"type":"entity","name":"Bosun","entityType":"dog","observations":["Afraid of thunder"]}
{"type":"relation","from":"Bosun","to":"Boathouse","relationType":"lives_in"}
not a line
"""

FILES = {
    "talk.json": _TALK,
    "conversations.json": _CHAT,
    "official.jsonl": _OFFICIAL,
    "config.toml": "dream = false\n",
    "data/corpus.jsonl": '{"_id": "d1", "text": "Oolong is oxidised."}\n'
    '{"_id": "d2", "text": "Ferries cross the strait."}\n',
    "data/queries.jsonl": '{"_id": "q1", "text": "oolong"}\n{"_id": "q2", "text": "ferries"}\n',
    "data/qrels/test.tsv": "query-id\tcorpus-id\tscore\nq1\td1\t1\nq2\td2\t1\n",
}

SCRIPT: tuple[tuple[str, ...], ...] = (
    ("stats",),
    ("remember", "Marisol Vega is allergic to nuts", "--importance", "0.9", "--tag", "health"),
    ("remember", "The regatta takes place in June", "--happened", "last tuesday", "--source", "a letter"),
    ("remember", "the regatta takes place in June."),
    ("remember", "--lines", "<The boiler was serviced in May\nLa caldera pierde agua\n"),
    ("remember", "--importance", "7", "Too much"),
    ("remember", "   "),
    ("add", "Marisol Vega", "-t", "person", "-o", "Drinks oolong after lunch", "-o", "Sails on Sundays"),
    ("add", "Jun Watanabe", "-t", "person", "-o", "週末は灯台まで歩く", "--importance", "0.8"),
    ("add", "Tidebook", "-t", "project", "-o", "Says when it is safe to cross", "--status", "active"),
    ("add", "Tidebook", "-t", "book", "-o", "Says when it is safe to cross", "-o", "Written in Python"),
    ("observe", "Marisol Vega", "Drinks oolong tea after lunch", "Leads the harbour team"),
    ("observe", "Marisol Vega", "Sails on Saturdays", "--supersedes", "Sails on Sundays", "-k", "fact"),
    ("observe", "Nobody", "Is not there"),
    ("relate", "Marisol Vega", "leads", "Tidebook", "--since", "2025-01-01", "--context", "since the start"),
    ("relate", "Tidebook", "part_of", "Harbour", "--create-missing"),
    ("relate", "Tidebook", "uses", "Nothing"),
    ("status", "Tidebook", "pausado"),
    ("status", "Tidebook", "sleepy"),
    ("session", "add", "harbour", "talk.json"),
    ("session", "add", "harbour", "I prefer green tea.", "--role", "user", "--speaker", "Marisol"),
    ("session", "add", "quay", "My goal is to sail to Tangier.", "--speaker", "Jun", "--no-extract"),
    ("session", "extract", "quay"),
    ("session", "list"),
    ("session", "show", "harbour", "--last", "2"),
    ("session", "show", "nowhere"),
    ("import", "official.jsonl"),
    ("import", "missing.jsonl"),
    ("chat-import", "conversations.json", "--dry-run"),
    ("chat-import", "conversations.json"),
    ("recall", "what is Marisol allergic to?", "-n", "3", "--explain"),
    ("recall", "oolong", "--profile", "limbic", "-n", "2"),
    ("recall", "oolong", "--kind", "entity", "--profile", "mnemosyne"),
    ("recall", "green tea", "--session", "harbour", "--budget", "40"),
    ("recall", "quantum chromodynamics"),
    ("recall", "nuts", "--tag", "health", "--min-confidence", "0.1", "--no-record"),
    ("recall", "nuts", "--profile", "nobody"),
    ("search", "caldera", "-n", "2", "--explain"),
    ("search", "Sundays", "--as-of", "2026-01-08", "--kind", "entity"),
    ("context", "what may I cook for Marisol?", "--budget", "120"),
    ("context", "--session", "harbour", "tea"),
    ("find", "tide"),
    ("show", "Marisol Vega", "1", "--history"),
    ("show", "Nobody"),
    ("show", "999"),
    ("history", "Tidebook"),
    ("graph", "--limit", "2"),
    ("graph", "--after", "8"),
    ("why-not", "oolong", "Tidebook", "-n", "1"),
    ("why-not", "oolong", "Nobody"),
    ("feedback", "1", "--good"),
    ("feedback", "5", "--bad", "--query", "what is Marisol allergic to?"),
    ("feedback", "999", "--good"),
    ("profile", "list"),
    ("profile", "show", "limbic"),
    ("profile", "diff", "recollect", "limbic"),
    ("profile", "show", "nobody"),
    ("tune", "analyze"),
    ("tune", "run"),
    ("tune", "set", "blend.meaning=0.5", "--exactly"),
    ("tune", "set", "gamma=0.05", "--profile", "limbic", "--dry-run"),
    ("tune", "set", "nothing=1"),
    ("tune", "history"),
    ("tune", "rollback", "--yes"),
    ("tune", "reset", "--yes"),
    ("eval", "self", "--sample", "4", "--profile", "recollect"),
    ("update", "1", "--text", "Marisol Vega is allergic to nuts and sesame", "--pin", "--mark", "health"),
    ("update", "Tidebook", "--importance", "0.6"),
    ("update", "2", "--no-tags", "--category", "events"),
    ("update", "999", "--text", "Nothing"),
    ("supersede", "2", "The regatta takes place in July"),
    ("supersede", "999", "Nothing"),
    ("end-relation", "Marisol Vega", "leads", "Tidebook", "--at", "2026-01-06"),
    ("end-relation", "Marisol Vega", "leads", "Tidebook"),
    ("unobserve", "Marisol Vega", "Leads the harbour team"),
    ("unrelate", "Tidebook", "part_of", "Harbour"),
    ("delete", "Harbour"),
    ("delete", "Nobody"),
    ("forget", "3"),
    ("forget", "999"),
    ("restore", "3"),
    ("restore", "999"),
    ("dream", "--dry-run"),
    ("dream", "--without", "prune", "--no-gate"),
    ("dream", "--phase", "link"),
    ("dream", "history"),
    ("dream", "show", "1", "--changes"),
    ("dream", "undo", "1", "--later", "--yes"),
    ("dream", "undo", "9", "--yes"),
    ("dream", "history"),
    ("forget", "4"),
    ("purge", "--before", "1d", "--yes"),
    ("purge", "--before", "2026-12-31", "--yes"),
    ("export", "out.jsonl", "--format", "official"),
    ("export", "full.jsonl"),
    ("export", "full.jsonl", "--format", "full"),
    ("--owner", "anna", "remember", "Anna's locker has the number 17"),
    ("--owner", "anna", "recall", "locker"),
    ("import", "full.jsonl", "--store", "other.db"),
    ("backup", "backup.db"),
    ("restore", "backup.db", "--yes"),
    ("doctor",),
    ("stats",),
    ("verify",),
    ("verify", "--repair"),
    ("reindex",),
    ("models",),
    ("settings",),
    ("mcp", "list"),
    ("mcp", "install", "cursor", "--dry-run"),
    ("mcp", "install", "cursor"),
    ("mcp", "uninstall", "cursor"),
    ("completion", "bash"),
    ("bench",),
    ("nonsense",),
    ("recall",),
    ("list", "--limit", "2"),
    ("neighbours", "Marisol Vega", "--depth", "2"),
    ("paths", "Marisol Vega", "Harbour"),
    ("session", "forget", "quay", "--yes"),
)
"""A word that begins with `<` is standard input."""

PROGRAMS = Path(sys.executable).parent

BENCH = (("bench", "quality", "--data", "data", "--no-cache", "--profile", "recollect", "--profile", "bm25"),)
NOT_RUN = {
    "serve",
    "ui",
    "hooks install",
    "hooks uninstall",
    "hooks status",
    "hooks run",
    "token create",
    "token list",
    "token revoke",
    "copy",
    "tune empty-log",
    "bench quality",
    "bench abstention",
    "bench context",
    "bench precision",
}
"""Commands that are tested elsewhere, or need data of other programs."""


def live(folder: Path, script: Iterable[list[str]]) -> list[dict[str, Any]]:
    """Run the commands with `--json`, each some hours after the last; what each said, and its exit status."""
    for name, text in FILES.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    clock = Clock(at(BEGINS))
    lived = []
    for typed in script:
        clock.pass_days(HOURS_BETWEEN / 24)
        given = next((word[1:] for word in typed if word.startswith("<")), None)
        words = [word for word in typed if not word.startswith("<")]
        status, out, error = calls.run_command([*words, "--json"], folder, clock, given)
        said = _steady(words[0], _parse_output(out, folder))
        lived.append({"typed": list(typed), "status": status, "json": said, "told": bool(error)})
    return lived


def _parse_output(out: str, folder: Path) -> Any:
    """As JSON, without the folders of this machine; what is no JSON is prose."""
    text = out.replace(str(folder), "FOLDER").replace(str(PROGRAMS), "PROGRAMS")
    try:
        return json.loads(text)
    except json.JSONDecodeError:
        return {"message": text} if text else None


def _steady(command: str, said: Any) -> Any:
    """Without what depends on the machine."""
    match command:
        case "doctor":
            return [[each["what"], sorted(each)] for each in said["checks"]]
        case "models":
            return [[each["name"], sorted(each)] for each in said["models"]]
        case "mcp" if "clients" in said:
            return [[each["name"], each["title"], sorted(each)] for each in said["clients"]]
        case "bench" if "data" in (said or {}):
            return {name: each for name, each in said.items() if name not in {"facts", "milliseconds"}}
        case _:
            return said
