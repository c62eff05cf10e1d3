"""The Python API on one page: remember, relate, search, correct, add messages, forget and restore."""
# pyright: strict

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory

import recollect


def main(store: Path) -> None:
    with recollect.open(store) as memory:
        # Create entities. An existing entity gets the new observations; `created` is then False.
        batch = memory.create_entities(
            [
                {
                    "name": "Ada",
                    "type": "person",
                    "observations": ["Wrote the first program", "Drinks coffee in the morning"],
                },
                recollect.NewEntity("Engine", type="machine"),
            ]
        )
        for entity in batch.entities:
            print("created" if entity.created else "merged", entity.name)

        # Relations run from a source to a target.
        memory.graph.create_relations([("Ada", "programs", "Engine")])

        # Correct an observation: the old one stays, as history.
        memory.graph.add_observations(
            {"Ada": [{"content": "Drinks tea in the morning", "supersedes": "Drinks coffee in the morning"}]}
        )

        # Search by words and by meaning; `places` has the rank of a hit in each search.
        answer = memory.search("hot drinks", limit=3)
        for hit in answer.hits:
            print(f"{hit.score:.4f}", hit.memory.name, dict(hit.places), hit.passage)
        if answer.note:
            print("by words only:", answer.note)

        # Notes and conversations. A named entity becomes a link; a correction replaces the old note.
        note = memory.remember("Ada meets Charles on Tuesday", tags=["plans"])
        print("speaks of", note.mentions)
        memory.supersede(note.id, "Ada meets Charles on Thursday")
        added = memory.add_messages(
            "today", [{"role": "user", "speaker": "Ada", "content": "I decided to keep the garden."}]
        )
        print("extracted:", [(note.category, note.text) for note in added.notes])

        # Print the memories that an agent should read before it answers.
        print(memory.context("when does Ada meet Charles?", budget_tokens=200).text)

        # Forget and restore.
        (forgotten,) = memory.graph.delete_entities(["Engine"])
        print("back again:", memory.restore(forgotten).name)


if __name__ == "__main__":
    with TemporaryDirectory() as folder:
        main(Path(folder) / "memory.db")
