"""Remember notes and recall one by meaning, without a network, in an environment with only a release."""

from __future__ import annotations

import sys
from pathlib import Path
from tempfile import TemporaryDirectory

NOTES = (
    "The tram brings Ana to her office",
    "Otto mends grandfather clocks",
    "Ines keeps bees in Faro",
)
# It shares no word with the note that it must find.
QUESTION = "commuting by public transport"


def refuse_the_network(event: str, _: object) -> None:
    if event in {"socket.connect", "socket.getaddrinfo"}:
        raise RuntimeError("A recall must not need the network.")


def main() -> None:
    sys.addaudithook(refuse_the_network)
    import recollect  # noqa: PLC0415  # after the hook, which sees what imports do

    with TemporaryDirectory() as folder, recollect.open(Path(folder) / "memory.db") as memory:
        for note in NOTES:
            memory.remember(note)
        found = [hit.memory.text for hit in memory.recall(QUESTION).hits]
    if found[:1] != [NOTES[0]]:
        sys.exit(f"{QUESTION!r} found {found}, not {NOTES[0]!r}: is the default model there?")
    print(f"{QUESTION!r} found {found[0]!r}")


if __name__ == "__main__":
    main()
