"""Who holds a lease: a name by which any process of the same machine can tell that its holder has died."""

from __future__ import annotations

import os
import secrets
from pathlib import Path

_PARTS = 5


def process_identity() -> str:
    """A name for this process that no other has; the last parts tell where and when it was started."""
    started = _started(os.getpid())
    return "/".join((secrets.token_hex(8), _boot(), _namespace(), str(os.getpid()), started))


def is_dead(holder: str) -> bool:
    """Whether the process of this name is certainly gone. False where that cannot be told from here."""
    parts = holder.partition(" ")[0].split("/")
    if len(parts) != _PARTS or not parts[3].isdecimal():
        return False
    _, boot, namespace, pid, started = parts
    # Of another machine, or of this one before it was started anew, which cannot be told apart: machines that
    # share a store may share a name as well. Another container may give its processes the same numbers.
    if not boot or boot != _boot() or not namespace or namespace != _namespace():
        return False
    return started != _started(int(pid))


def _boot() -> str:
    """One of a kind for each start of each machine; its containers share it."""
    try:
        return Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip()
    except OSError:  # only Linux has it, and elsewhere a lease is waited for
        return ""


def _namespace() -> str:
    try:
        return str(Path("/proc/self/ns/pid").readlink()).replace("/", "-")
    except OSError:
        return ""


def _started(pid: int) -> str:
    """When a process was started, in ticks since the machine was; empty where there is none."""
    try:
        said = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""
    # The name of the program stands in parentheses, and may hold anything.
    fields = said.rpartition(")")[2].split()
    # One that has ended and is waited for by its parent holds nothing.
    return "" if fields[0] in "ZX" else fields[19]
