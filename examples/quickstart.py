"""The Python API in one page: remember, relate, search, correct, converse, forget and bring back."""
# pyright: strict

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory

import recollect


def main(store: Path) -> None:
    with recollect.open(store) as memory:
        # Create entities; a name that exists gains what is new. The reply tells the two apart.
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

        # Search by words and by meaning; each hit says why it stands where it does.
        answer = memory.search("hot drinks", limit=3)
        for hit in answer.hits:
            print(f"{hit.score:.4f}", hit.memory.name, dict(hit.places), hit.passage)
        if answer.note:
            print("by words only:", answer.note)

        # Notes and conversations. What is mentioned by name becomes a link; a correction retires the error.
        note = memory.remember("Ada meets Charles on Tuesday", tags=["plans"])
        print("speaks of", note.mentions)
        memory.supersede(note.id, "Ada meets Charles on Thursday")
        told = memory.add_messages(
            "today", [{"role": "user", "speaker": "Ada", "content": "I decided to keep the garden."}]
        )
        print("kept of it:", [(kept.category, kept.text) for kept in told.notes])

        # What an agent should read before it answers.
        print(memory.context("when does Ada meet Charles?", budget_tokens=200).text)

        # Forget, and bring back.
        (forgotten,) = memory.graph.delete_entities(["Engine"])
        print("back again:", memory.restore(forgotten).name)


if __name__ == "__main__":
    with TemporaryDirectory() as folder:
        main(Path(folder) / "memory.db")
