"""Installing our server and hooks in a client's settings, and uninstalling them, changes nothing else."""

from __future__ import annotations

import json
import stat
import sys
import tomllib
from pathlib import Path, PurePosixPath, PureWindowsPath
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollect.agents.clients import (
    CLIENTS,
    HOOK_CLIENTS,
    AnotherEntry,
    Launch,
    Machine,
    checked_name,
    entry_difference,
    is_ours,
    launch_words,
    updated_entry,
)
from recollect.agents.settings_files import (
    NotEditable,
    SettingsEdit,
    apply_edit,
    backup_path,
    edit_to_install,
    edit_to_install_hooks,
    edit_to_uninstall,
    edit_to_uninstall_hooks,
    hooks_in,
    read_backup,
    read_content,
    read_settings,
    server_in,
    with_server,
)
from recollect.domain.errors import Conflict, InvalidInput

NAME, KEY = "recollect", "mcpServers"
OURS = {"command": "/opt/recollect", "args": ["serve"]}
LAUNCH = Launch("/opt/my tools/recollect", ("serve", "--store", "C:\\Users\\ana\\memory.db"))
DESKTOP = CLIENTS["claude-desktop"]
WANTED = HOOK_CLIENTS["claude-code"].entries(
    "/usr/bin/python3", ["--store", "/home/ana/my memory.db"], "linux"
)
MINE = {"hooks": [{"type": "command", "command": "say done"}]}

_words = st.text(st.characters(exclude_categories=["Cs"]), max_size=8)
_scalars = (
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | _words
)
_values = st.recursive(
    _scalars, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(_words, inner, max_size=3)
)


@st.composite
def json_texts(draw: st.DrawFn) -> str:
    """Draw an object with or without servers, as different programs would write it."""
    items = list(draw(st.dictionaries(_words.filter(KEY.__ne__), _values, max_size=3)).items())
    if draw(st.booleans()):
        servers = draw(st.dictionaries(_words.filter(NAME.__ne__), _values, max_size=3))
        items.insert(draw(st.integers(0, len(items))), (KEY, servers))
    indent = draw(st.sampled_from([None, 0, 2, 4, "\t"]))
    separators = draw(st.sampled_from([None, (",", ":"), (" , ", " : ")]))
    text = json.dumps(dict(items), indent=indent, separators=separators, ensure_ascii=draw(st.booleans()))
    newline = draw(st.sampled_from(["\n", "\r\n"]))
    before, after = draw(st.sampled_from(["", "\ufeff", "\n"])), draw(st.sampled_from(["", "\n", " \n\n"]))
    return (before + text + after).replace("\n", newline)


def others(text: str | None) -> list[Any]:
    """Return everything that is not ours, in order. An empty list of servers equals a missing one."""
    content = read_content(text)
    servers = {name: value for name, value in content.pop(KEY, {}).items() if name != NAME}
    return [list(content.items()), list(servers.items())]


@given(json_texts())
def test_uninstalling_restores_any_json_exactly(text: str) -> None:
    put = edit_to_install(DESKTOP, text, NAME, LAUNCH, force=False).after
    assert server_in(DESKTOP, put, NAME)["command"] == LAUNCH.command
    assert others(put) == others(text)
    # Installing again changes nothing.
    assert edit_to_install(DESKTOP, put, NAME, LAUNCH, force=False).is_none
    # With the backup, the text is restored exactly; without it, only our entry is lost.
    assert edit_to_uninstall(DESKTOP, put, NAME, text, force=False).after == text
    alone = edit_to_uninstall(DESKTOP, put, NAME, None, force=False).after
    assert server_in(DESKTOP, alone, NAME) is None
    assert others(alone) == others(text if alone is not None else None)


def test_an_entry_has_the_indentation_and_newlines_of_its_file() -> None:
    text = '{\n\t"mcpServers": {\n\t\t"docs": {\n\t\t\t"command": "npx"\n\t\t}\n\t},\n\t"theme": "dark"\n}\n'
    assert with_server(DESKTOP, text, NAME, OURS) == (
        '{\n\t"mcpServers": {\n\t\t"docs": {\n\t\t\t"command": "npx"\n\t\t},\n'
        '\t\t"recollect": {\n\t\t\t"command": "/opt/recollect",\n'
        '\t\t\t"args": [\n\t\t\t\t"serve"\n\t\t\t]\n\t\t}\n'
        '\t},\n\t"theme": "dark"\n}\n'
    )
    assert with_server(DESKTOP, '{"a":1,"mcpServers":{"b":{}}}', NAME, OURS) == (
        '{"a":1,"mcpServers":{"b":{},"recollect":{"command":"/opt/recollect","args":["serve"]}}}'
    )
    crlf = with_server(DESKTOP, '\ufeff{\r\n  "theme": "dark"\r\n}\r\n', NAME, OURS)
    assert crlf.startswith("\ufeff{")
    assert crlf.count("\n") == crlf.count("\r\n") > 5
    for nothing in (None, "", " \n", "\ufeff"):
        made = with_server(DESKTOP, nothing, NAME, OURS)
        assert server_in(DESKTOP, made, NAME) == OURS
        assert made.endswith("}\n")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{", "line 1: it ends too early"),
        ('{"a": 1,\n', "line 2: it ends too early"),
        ('{"a" 1}', "line 1: Expecting ':' delimiter"),
        ('{"a": 1\n "b": 2}', "line 2: Expecting ',' delimiter"),
        ('{"a": "x\ny"}', "line 1: Invalid control character"),
        ("{} {}", "line 1: Extra data"),
        ('{"a": 1,}', "a file with comments is not edited"),
        ('{\n// hello\n"a": 1}', "line 2: .*a file with comments is not edited"),
        ('{"a": 1 /* hello */}', "a file with comments is not edited"),
        ('{"a": 1, "a": 2}', "the key 'a' occurs twice"),
        ("[]", "it is not a JSON object"),
        ('{"mcpServers": []}', "its 'mcpServers' is not a JSON object"),
        ("[" * 100_000, "nested too deeply"),
        ('{"a": NaN}', "NaN is not a JSON value"),
        ('{"a": 1e999}', "values that Recollect cannot write"),
        ('{"é": "\\ud800"}', "values that Recollect cannot write"),
        ('{"a": ' + "9" * 5000 + "}", "digits"),
    ],
)
def test_a_file_that_cannot_be_edited_is_refused_with_its_line(text: str, message: str) -> None:
    with pytest.raises(NotEditable, match=message):
        with_server(DESKTOP, text, NAME, OURS)


def test_toml_is_read_and_printed_but_never_edited() -> None:
    codex = CLIENTS["codex"]
    entry = {"command": "C:\\Tools\\r.exe", "args": ['a "b"\x7f é'], "env": {"A": "\t"}}
    assert tomllib.loads(codex.snippet(NAME, entry)) == {"mcp_servers": {NAME: entry}}
    assert server_in(codex, codex.snippet(NAME, entry), NAME) == entry
    for broken in ("[mcp_servers", "mcp_servers = 3"):
        with pytest.raises(NotEditable):
            server_in(codex, broken, NAME)


@pytest.mark.parametrize(
    "text",
    [
        None,
        "",
        "\n",
        "{}",
        json.dumps({"model": "opus", "hooks": {"Stop": [MINE]}}, separators=(",", ":")),
        json.dumps({"hooks": {"Stop": [MINE]}, "theme": "dark"}, indent=4).replace("\n", "\r\n"),
        '{\n\t"theme": "dark"\n}\n',
        '{"hooks": {"Stop": []}}',
        '{"hooks": {}, "theme": "dark"}',
    ],
)
def test_uninstalling_hooks_restores_the_file(text: str | None) -> None:
    installed = edit_to_install_hooks(text, WANTED)
    assert set(hooks_in(installed.after)) == set(WANTED)
    assert edit_to_install_hooks(installed.after, WANTED).is_none
    assert edit_to_uninstall_hooks(installed.after, text).after == text


def test_other_hooks_stay_when_ours_are_updated_or_removed() -> None:
    text = json.dumps({"hooks": {"Stop": [MINE]}, "theme": "dark"}, indent=2)
    first = edit_to_install_hooks(text, WANTED).after or ""
    other = HOOK_CLIENTS["claude-code"].entries("/opt/python3", [], "linux")
    second = edit_to_install_hooks(first, other)
    assert not second.needs_backup  # a copy of the original exists already
    assert "/usr/bin/python3" not in (second.after or "")
    assert "say done" in (second.after or "")
    assert set(hooks_in(second.after)) == set(WANTED)
    changed = first.replace('"dark"', '"light"')
    assert edit_to_uninstall_hooks(changed, text).after == text.replace('"dark"', '"light"')
    # A hook that the user added to our group stays when ours is removed.
    ours = WANTED["Stop"]["hooks"]
    shared = {"hooks": {"Stop": [{"hooks": [{"command": "mine"}, *ours]}, {"hooks": []}]}}
    left = edit_to_uninstall_hooks(json.dumps(shared), "{}").after
    assert json.loads(left or "") == {"hooks": {"Stop": [{"hooks": [{"command": "mine"}]}, {"hooks": []}]}}


@pytest.mark.parametrize(
    "text", ['{"hooks": []}', '{"hooks": {"Stop": {}}}', "[]", '{"hooks": ', "{} // comment"]
)
def test_hooks_that_cannot_be_changed_safely_are_left_alone(text: str) -> None:
    with pytest.raises(NotEditable):
        edit_to_install_hooks(text, WANTED)


def test_hooks_have_the_form_and_quotes_of_their_client() -> None:
    text = json.dumps({"hooks": {"Stop": [{"hooks": [{"command": "grep recollect.hooks.log notes"}]}]}})
    assert hooks_in(text) == {}
    entries = HOOK_CLIENTS["cursor"].entries("python3", [], "linux")
    written = json.loads(edit_to_install_hooks(None, entries, HOOK_CLIENTS["cursor"].version).after or "")
    assert written["version"] == 1
    assert written["hooks"]["beforeSubmitPrompt"] == [
        {"command": "python3 -P -m recollect.hooks cursor said", "timeout": 5}
    ]
    (hook,) = WANTED["Stop"]["hooks"]
    words = "/usr/bin/python3 -P -m recollect.hooks claude-code turn"
    assert hook == {"type": "command", "command": f"{words} --store '/home/ana/my memory.db'", "timeout": 5}
    entries = HOOK_CLIENTS["codex"].entries(r"C:\Program Files\python.exe", [], "win32")
    (hook,) = entries["Stop"]["hooks"]
    assert hook["command"] == r'"C:\Program Files\python.exe" -P -m recollect.hooks codex turn'


PLAIN = Launch("/opt/recollect", ("serve",))


def test_the_command_is_absolute_and_shown_with_shell_quotes(tmp_path: Path) -> None:
    assert DESKTOP.entry(PLAIN) == {"command": "/opt/recollect", "args": ["serve"]}
    full = Launch("r", ("serve", "--owner", "ana"), {"RECOLLECT_CONFIG": "/c"})
    assert CLIENTS["cursor"].entry(full) == {
        "type": "stdio",
        "command": "r",
        "args": ["serve", "--owner", "ana"],
        "env": {"RECOLLECT_CONFIG": "/c"},
    }
    assert Launch("/my tools/r", ("serve", "--owner", "ana")).line == '"/my tools/r" serve --owner ana'
    assert Launch("/home/ana/.cache/uv/archive-v0/x1/bin/recollect").may_vanish
    assert Launch(r"C:\Users\Ana\AppData\Local\uv\cache\archive-v0\x1\Scripts\recollect.exe").may_vanish
    assert not Launch("/home/ana/.local/share/uv/tools/recollect-memory/bin/recollect").may_vanish
    assert launch_words(tmp_path, "/usr/bin/python3") == (
        "/usr/bin/python3",
        "-P",
        "-m",
        "recollect.cli.main",
    )
    (tmp_path / "recollect.exe").touch()
    assert launch_words(tmp_path) == (str(tmp_path / "recollect.exe"),)
    (tmp_path / "recollect").touch()
    assert launch_words(tmp_path) == (str(tmp_path / "recollect"),)


@pytest.mark.parametrize(
    ("found", "ours"),
    [
        ({"command": "/opt/recollect", "args": ["serve"]}, True),
        ({"command": r"C:\Users\Ana\venv\Scripts\recollect.exe", "args": ["serve"]}, True),
        ({"command": "python3", "args": ["-m", "recollect.cli.main", "serve"]}, True),
        ({"command": "uvx", "args": ["--from", "recollect-memory", "recollect", "serve"]}, True),
        ({"command": "/opt/recollect", "args": ["--help"]}, False),
        ({"command": "npx", "args": ["serve"]}, False),
        ({"url": "https://example.org/mcp"}, False),
        ({"command": 3, "args": "serve"}, False),
        ("recollect serve", False),
    ],
)
def test_an_entry_that_starts_recollect_is_ours(found: Any, ours: bool) -> None:
    assert is_ours(found) is ours


@pytest.mark.parametrize("name", ["", "a b", "a.b", "é", "x" * 65, 'a"b'])
def test_a_name_that_a_client_may_refuse_is_refused(name: str) -> None:
    with pytest.raises(InvalidInput, match="is not a valid server name"):
        checked_name(name)
    assert checked_name("work-memory_2") == "work-memory_2"


def test_our_entry_is_updated_and_anothers_is_replaced_only_by_force() -> None:
    text = '{"mcpServers": {"recollect": {"command": "/old/recollect", "args": ["serve"]}}}'
    after = edit_to_install(DESKTOP, text, "recollect", PLAIN, force=False).after or ""
    assert server_in(DESKTOP, after, "recollect") == {"command": "/opt/recollect", "args": ["serve"]}
    text = '{"mcpServers": {"recollect": {"command": "npx", "args": ["other"], "env": {"KEY": "1"}}}}'
    with pytest.raises(AnotherEntry, match="--force"):
        edit_to_install(DESKTOP, text, "recollect", PLAIN, force=False)
    after = edit_to_install(DESKTOP, text, "recollect", PLAIN, force=True).after or ""
    assert server_in(DESKTOP, after, "recollect") == {"command": "/opt/recollect", "args": ["serve"]}
    text = '{"mcpServers": {"recollect": {"url": "https://example.org"}}}'
    with pytest.raises(AnotherEntry, match="does not start Recollect"):
        edit_to_uninstall(DESKTOP, text, "recollect", None, force=False)
    assert edit_to_uninstall(DESKTOP, text, "recollect", None, force=True).after == "{}"


def test_an_update_keeps_foreign_keys_and_backs_up_a_changed_file() -> None:
    there = {
        "command": "/old/recollect",
        "args": ["serve", "--owner", "ana"],
        "env": {"RECOLLECT_TIME_ZONE": "UTC", "RECOLLECT_MODEL_KEY": "sk-1", "HTTPS_PROXY": "http://p"},
        "autoApprove": ["recall"],
    }
    wanted = {"command": "/opt/recollect", "args": ["serve"], "env": {"RECOLLECT_CONFIG": "/c"}}
    assert updated_entry(there, wanted) == {
        "command": "/opt/recollect",
        "args": ["serve"],
        "env": {"RECOLLECT_MODEL_KEY": "sk-1", "HTTPS_PROXY": "http://p", "RECOLLECT_CONFIG": "/c"},
        "autoApprove": ["recall"],
    }
    assert entry_difference(there, updated_entry(there, wanted)) == [
        "- /old/recollect serve --owner ana",
        "- RECOLLECT_TIME_ZONE=UTC",
        "+ /opt/recollect serve",
        "+ RECOLLECT_CONFIG=/c",
    ]
    first = edit_to_install(DESKTOP, "{}", "recollect", PLAIN, force=False).after or ""
    later = with_server(DESKTOP, first, "docs", {"command": "npx"})
    other = Launch("/opt/recollect", ("serve", "--tools", "all"))
    assert edit_to_install(DESKTOP, later, "recollect", other, "{}", force=False).needs_backup


@pytest.mark.parametrize("before", [None, '{"theme": "dark"}'])
def test_uninstalling_after_an_update_restores_the_original_file(before: str | None) -> None:
    first = edit_to_install(DESKTOP, before, "recollect", PLAIN, force=False)
    assert first.needs_backup
    other = Launch("/opt/recollect", ("serve", "--tools", "all"))
    second = edit_to_install(DESKTOP, first.after, "recollect", other, before, force=False)
    assert not second.needs_backup
    assert edit_to_uninstall(DESKTOP, second.after, "recollect", before, force=False).after == before


def test_opencode_has_command_and_arguments_in_one_list() -> None:
    client = CLIENTS["opencode"]
    launch = Launch("/bin/recollect", ("serve",), {"RECOLLECT_LOG": "no-text"})
    installed = edit_to_install(client, '{"mcp": {}}', "recollect", launch, force=False).after or ""
    assert server_in(client, installed, "recollect") == {
        "type": "local",
        "command": ["/bin/recollect", "serve"],
        "environment": {"RECOLLECT_LOG": "no-text"},
    }
    theirs = installed.replace('"RECOLLECT_LOG"', '"RECOLLECT_MODEL_KEY": "k", "RECOLLECT_LOG"')
    updated = edit_to_install(client, theirs, "recollect", Launch("/opt/recollect", ("serve",)), force=False)
    assert server_in(client, updated.after or "", "recollect") == {
        "type": "local",
        "command": ["/opt/recollect", "serve"],
        "environment": {"RECOLLECT_MODEL_KEY": "k"},
    }


def test_an_edit_keeps_a_copy_until_it_is_taken_back(tmp_path: Path) -> None:
    path = tmp_path / "mcp.json"
    path.write_bytes(b"before\r\n")
    assert apply_edit(path, SettingsEdit("before\r\n", "after\r\n")) == backup_path(path)
    assert path.read_bytes() == b"after\r\n"
    assert read_backup(path) == "before\r\n"
    assert sorted(each.name for each in tmp_path.iterdir()) == ["mcp.json", "mcp.json.before-recollect"]
    path.write_text("before")
    apply_edit(path, SettingsEdit("before", "ours"))
    apply_edit(path, SettingsEdit("ours", "ours again", needs_backup=False))
    assert read_backup(path) == "before"
    path.write_text("before")
    apply_edit(path, SettingsEdit("before", "after"))
    assert apply_edit(path, SettingsEdit("after", "before")) is None
    assert [each.name for each in tmp_path.iterdir()] == ["mcp.json"]


def test_removing_a_file_removes_folders_that_become_empty(tmp_path: Path) -> None:
    path = tmp_path / "deep" / "er" / "mcp.json"
    assert apply_edit(path, SettingsEdit(None, "new")) is None
    assert read_settings(path) == "new"
    assert apply_edit(path, SettingsEdit("new", None)) is None
    assert read_settings(path) is None
    home = tmp_path / "home"
    (home / "theirs").mkdir(parents=True)
    for folder in (home / "made" / "deep", home / "theirs" / "made"):
        apply_edit(folder / "mcp.json", SettingsEdit(None, "new"))
    (home / "theirs" / "note").touch()
    for folder in (home / "made" / "deep", home / "theirs" / "made"):
        apply_edit(folder / "mcp.json", SettingsEdit("new", None), home)
    assert [each.name for each in home.rglob("*")] == ["theirs", "note"]
    apply_edit(home / "mcp.json", SettingsEdit(None, "new"))
    (home / "theirs" / "note").unlink()
    apply_edit(home / "mcp.json", SettingsEdit("new", None), home)
    assert home.is_dir()


def test_a_file_that_cannot_be_changed_safely_is_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "mcp.json"
    path.write_text("theirs")
    with pytest.raises(Conflict, match="try again"):
        apply_edit(path, SettingsEdit("before", "after"))
    assert [each.name for each in tmp_path.iterdir()] == ["mcp.json"]
    path.write_bytes(b"\xff\xfe{\x00}\x00")
    with pytest.raises(NotEditable, match="not UTF-8"):
        read_settings(path)
    backup_path(path).write_bytes(b"\xff")
    assert read_backup(path) is None


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such modes, and links need a right")
def test_an_edit_keeps_modes_and_links(tmp_path: Path) -> None:
    real = tmp_path / "dotfiles" / "mcp.json"
    real.parent.mkdir()
    real.write_text("before")
    real.chmod(0o640)
    path = tmp_path / "mcp.json"
    path.symlink_to(real)
    apply_edit(path, SettingsEdit("before", "after"))
    assert path.is_symlink()
    assert real.read_text() == "after"
    for each in (real, backup_path(real)):
        assert stat.S_IMODE(each.stat().st_mode) == 0o640
    new = tmp_path / "new.json"
    apply_edit(new, SettingsEdit(None, "keys"))
    assert stat.S_IMODE(new.stat().st_mode) == 0o600


def test_a_read_only_file_is_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "settings.json"
    path.write_text("{}")
    path.chmod(0o444)
    for after in ('{"a": 1}', None):
        with pytest.raises(Conflict, match="read-only"):
            apply_edit(path, SettingsEdit("{}", after))
    assert [each.name for each in tmp_path.iterdir()] == ["settings.json"]
    assert path.read_text() == "{}"


WINDOWS = Machine(
    "win32",
    PureWindowsPath(r"C:\Users\Ana"),
    {"APPDATA": r"D:\Roaming", "LOCALAPPDATA": r"C:\Users\Ana\AppData\Local"},
)
MAC = Machine("darwin", PurePosixPath("/Users/ana"))
LINUX = Machine("linux", PurePosixPath("/home/ana"))


@pytest.mark.parametrize(
    ("client", "windows", "mac", "linux"),
    [
        (
            "claude-desktop",
            r"D:\Roaming\Claude\claude_desktop_config.json",
            "~/Library/Application Support/Claude/claude_desktop_config.json",
            "~/.config/Claude/claude_desktop_config.json",
        ),
        ("claude-code", r"C:\Users\Ana\.claude.json", "~/.claude.json", "~/.claude.json"),
        ("cursor", r"C:\Users\Ana\.cursor\mcp.json", "~/.cursor/mcp.json", "~/.cursor/mcp.json"),
        (
            "vscode",
            r"D:\Roaming\Code\User\mcp.json",
            "~/Library/Application Support/Code/User/mcp.json",
            "~/.config/Code/User/mcp.json",
        ),
        ("codex", r"C:\Users\Ana\.codex\config.toml", "~/.codex/config.toml", "~/.codex/config.toml"),
        (
            "gemini",
            r"C:\Users\Ana\.gemini\settings.json",
            "~/.gemini/settings.json",
            "~/.gemini/settings.json",
        ),
        (
            "opencode",
            r"C:\Users\Ana\.config\opencode\opencode.json",
            "~/.config/opencode/opencode.json",
            "~/.config/opencode/opencode.json",
        ),
    ],
)
def test_each_client_has_its_file_on_each_system(client: str, windows: str, mac: str, linux: str) -> None:
    found = [str(CLIENTS[client].file(machine)) for machine in (WINDOWS, MAC, LINUX)]
    assert found == [windows, mac.replace("~", "/Users/ana"), linux.replace("~", "/home/ana")]


def test_settings_files_of_projects_packages_and_a_bare_environment() -> None:
    bare = Machine("win32", PureWindowsPath(r"C:\Users\Ana"))
    assert str(CLIENTS["vscode"].file(bare)) == r"C:\Users\Ana\AppData\Roaming\Code\User\mcp.json"
    machine = Machine("win32", WINDOWS.home, WINDOWS.environ, ("Other_1", "Claude_pzs8sxrjxfjjc"))
    assert str(CLIENTS["claude-desktop"].file(machine)) == (
        r"C:\Users\Ana\AppData\Local\Packages\Claude_pzs8sxrjxfjjc\LocalCache\Roaming\Claude"
        r"\claude_desktop_config.json"
    )
    posix, windows = PurePosixPath("/code/tide"), PureWindowsPath(r"C:\code\tide")
    assert str(CLIENTS["claude-code"].file(MAC, posix)) == "/code/tide/.mcp.json"
    assert str(CLIENTS["codex"].file(MAC, posix)) == "/code/tide/.codex/config.toml"
    assert str(CLIENTS["vscode"].file(WINDOWS, windows)) == r"C:\code\tide\.vscode\mcp.json"
    with pytest.raises(InvalidInput, match="leave out --project"):
        CLIENTS["claude-desktop"].file(MAC, posix)
    assert {name: str(client.file(LINUX)) for name, client in HOOK_CLIENTS.items()} == {
        "claude-code": "/home/ana/.claude/settings.json",
        "codex": "/home/ana/.codex/hooks.json",
        "gemini": "/home/ana/.gemini/settings.json",
        "opencode": "/home/ana/.config/opencode/plugin/recollect.js",
        "cursor": "/home/ana/.cursor/hooks.json",
    }


@pytest.mark.parametrize(
    ("client", "variable", "file"),
    [
        ("claude-code", "CLAUDE_CONFIG_DIR", "/else/where/.claude.json"),
        ("codex", "CODEX_HOME", "/else/where/config.toml"),
        ("vscode", "XDG_CONFIG_HOME", "/else/where/Code/User/mcp.json"),
    ],
)
def test_the_clients_own_variables_choose_the_file(client: str, variable: str, file: str) -> None:
    machine = Machine("linux", LINUX.home, {variable: "/else/where"})
    assert str(CLIENTS[client].file(machine)) == file
    assert CLIENTS[client].file(Machine("linux", LINUX.home, {variable: ""})) == CLIENTS[client].file(LINUX)
