"""Our hooks come into a client's settings and go out again, and nobody else's are touched."""

from __future__ import annotations

import json
from pathlib import PurePosixPath, PureWindowsPath

import pytest

from recollect.clients.catalogue import Machine
from recollect.clients.entry import NotEditable
from recollect.clients.hook_catalogue import HOOK_CLIENTS, hook_client_named
from recollect.clients.hook_lists import HookList, edit_to_install_hooks, edit_to_uninstall_hooks
from recollect.errors import InvalidInput

LINUX = Machine("linux", PurePosixPath("/home/ana"))
WINDOWS = Machine("win32", PureWindowsPath(r"C:\Users\Ana"))
WANTED = HOOK_CLIENTS["claude-code"].entries(
    "/usr/bin/python3", ["--store", "/home/ana/my memory.db"], "linux"
)
LIST = HookList(comments=True)
COMMENTED = """{
  // mine
  "hooks": {
    "Stop": [
      { "hooks": [{ "type": "command", "command": "say done" }] } // keep
    ],
  },
  "theme": "dark",
}
"""
TEXTS = {
    "none": None,
    "empty": "",
    "blank": "\n",
    "bare": "{}",
    "compact": '{"model":"opus","hooks":{"Stop":[{"hooks":[{"type":"command","command":"say done"}]}]}}',
    "commented": COMMENTED,
    "windows": COMMENTED.replace("\n", "\r\n"),
    "no hooks": '{\n\t"theme": "dark"\n}\n',
    "empty list": '{"hooks": {"Stop": []}}',
    "empty hooks": '{"hooks": {}, "theme": "dark"}',
}


@pytest.mark.parametrize("text", TEXTS.values(), ids=TEXTS)
def test_what_is_installed_and_taken_out_leaves_the_file_as_it_was(text: str | None) -> None:
    installed = edit_to_install_hooks(LIST, text, WANTED)
    assert installed.after is not None
    assert set(LIST.ours_in(installed.after)) == set(WANTED)
    assert edit_to_install_hooks(LIST, installed.after, WANTED).is_none  # again changes nothing
    removed = edit_to_uninstall_hooks(LIST, installed.after, text)
    assert removed.after == text


def test_without_the_copy_all_that_is_not_ours_stays() -> None:
    installed = edit_to_install_hooks(LIST, COMMENTED, WANTED).after
    assert installed is not None
    changed = installed.replace('"dark"', '"light"')
    removed = edit_to_uninstall_hooks(LIST, changed, COMMENTED).after
    assert removed == COMMENTED.replace('"dark"', '"light"')


def test_a_hook_that_shares_a_group_with_ours_stays() -> None:
    text = json.dumps({"hooks": {"Stop": [{"hooks": [{"command": "mine"}, *WANTED["Stop"]["hooks"]]}]}})
    removed = edit_to_uninstall_hooks(LIST, text, None).after
    assert json.loads(removed or "") == {"hooks": {"Stop": [{"hooks": [{"command": "mine"}]}]}}


def test_installing_again_brings_ours_up_to_date_and_keeps_the_others() -> None:
    first = edit_to_install_hooks(LIST, COMMENTED, WANTED).after
    other = HOOK_CLIENTS["claude-code"].entries("/opt/python3", [], "linux")
    second = edit_to_install_hooks(LIST, first, other)
    assert not second.needs_backup  # the copy of what was there before us stands already
    assert second.after is not None
    assert "/usr/bin/python3" not in second.after
    assert "say done" in second.after
    assert "// keep" in second.after
    assert set(LIST.ours_in(second.after)) == set(WANTED)


@pytest.mark.parametrize(
    "text", ['{"hooks": []}', '{"hooks": {"Stop": {}}}', "[]", '{"hooks": ', "{} // comment"]
)
def test_what_cannot_be_changed_safely_is_left_alone(text: str) -> None:
    with pytest.raises(NotEditable):
        edit_to_install_hooks(HookList(), text, WANTED)


def test_a_hook_that_only_speaks_of_us_is_not_ours() -> None:
    text = json.dumps({"hooks": {"Stop": [{"hooks": [{"command": "grep recollect.hooks.log notes"}]}]}})
    assert LIST.ours_in(text) == {}


def test_each_client_has_its_file_its_events_and_its_form() -> None:
    files = {name: str(client.file(LINUX)) for name, client in HOOK_CLIENTS.items()}
    assert files == {
        "claude-code": "/home/ana/.claude/settings.json",
        "codex": "/home/ana/.codex/hooks.json",
        "gemini": "/home/ana/.gemini/settings.json",
        "opencode": "/home/ana/.config/opencode/plugin/recollect.js",
        "cursor": "/home/ana/.cursor/hooks.json",
    }
    cursor = HOOK_CLIENTS["cursor"]
    assert cursor.list is not None
    entries = cursor.entries("python3", [], "linux")
    written = json.loads(edit_to_install_hooks(cursor.list, None, entries).after or "")
    assert written["version"] == 1
    assert written["hooks"]["beforeSubmitPrompt"] == [
        {"command": "python3 -P -m recollect.hooks cursor said", "timeout": 5}
    ]


def test_a_command_is_quoted_as_its_shell_wants_it() -> None:
    (hook,) = WANTED["Stop"]["hooks"]
    words = "/usr/bin/python3 -P -m recollect.hooks claude-code turn"
    assert hook == {"type": "command", "command": f"{words} --store '/home/ana/my memory.db'", "timeout": 5}
    entries = HOOK_CLIENTS["codex"].entries(r"C:\Program Files\python.exe", [], "win32")
    (hook,) = entries["Stop"]["hooks"]
    assert hook["command"] == r'"C:\Program Files\python.exe" -P -m recollect.hooks codex turn'


def test_an_unknown_client_of_hooks_is_met_with_those_there_are() -> None:
    with pytest.raises(InvalidInput, match="claude-code, codex, gemini, opencode, cursor"):
        hook_client_named("emacs")
