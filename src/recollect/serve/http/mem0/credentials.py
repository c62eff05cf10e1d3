"""How mem0's clients show their key."""

from __future__ import annotations

from collections.abc import Mapping

MEM0_PATH = "/mem0"


def with_bearer(path: str, headers: Mapping[bytes, bytes]) -> dict[bytes, bytes]:
    """The headers of a request, with a key as mem0's clients send it in the place where ours is expected.

    That is `Authorization: Token KEY`, or `X-API-Key: KEY`; below `/mem0` alone.
    """
    found = dict(headers)
    if not is_mem0(path):
        return found
    scheme, _, key = found.get(b"authorization", b"").partition(b" ")
    if scheme.lower() == b"token":
        found[b"authorization"] = b"Bearer " + key
    elif not scheme and b"x-api-key" in found:
        found[b"authorization"] = b"Bearer " + found[b"x-api-key"]
    return found


def is_mem0(path: str) -> bool:
    return path == MEM0_PATH or path.startswith(f"{MEM0_PATH}/")
