"""Asks a server that runs on this machine already to sign a browser in."""

from __future__ import annotations

import json
from http.client import HTTPConnection, HTTPException
from typing import TYPE_CHECKING

from recollect.errors import InvalidInput
from recollect.serve.http.browser_sessions import proof_of
from recollect.serve.http.sign_in import CHALLENGE, ONCE, PROOF

if TYPE_CHECKING:
    from recollect.serve.http.access_policy import AccessPolicy

_SECONDS = 10.0
_LONGEST_ANSWER = 10_000


def link_of_running_server(policy: AccessPolicy, store: str) -> str | None:
    """A link that signs in once to the server at the policy's port; None: nobody listens there.

    It must serve the store of this id, with the token that we know. Whatever listens there, it is not sent
    the token: it may be anybody's.
    """
    connection = HTTPConnection(policy.host, policy.port, timeout=_SECONDS)
    try:
        connection.connect()
    except OSError:
        return None
    try:
        answer = _asked(connection, {})
        if "challenge" in answer:
            challenge = str(answer["challenge"])
            proof = proof_of(policy.token or "", challenge, policy.port)
            answer = _asked(connection, {CHALLENGE: challenge, PROOF: proof})
    except (OSError, HTTPException, ValueError):
        answer = {}
    finally:
        connection.close()
    if answer.get("store") != store or "link" not in answer:
        raise InvalidInput(
            f"Something else listens on port {policy.port}: another program, a server of another memory, or "
            "one with another token; name another port with --port."
        )
    return policy.url(policy.port, str(answer["link"]))


def _asked(connection: HTTPConnection, headers: dict[str, str]) -> dict[str, object]:
    connection.request("POST", ONCE, headers=headers)
    answer = json.loads(connection.getresponse().read(_LONGEST_ANSWER))
    return answer if isinstance(answer, dict) else {}
