"""An application written for mem0 that uses Recollect. Only the address of its client is changed.

Start `recollect serve --http`. Then run this with the token that it prints:

    MEM0_TELEMETRY=False python examples/mem0_client.py http://127.0.0.1:7438/mem0 TOKEN
"""

from __future__ import annotations

import sys

import httpx
from mem0 import MemoryClient


def main(url: str, key: str) -> None:
    with httpx.Client() as connection:
        client = MemoryClient(api_key=key, host=url, client=connection)
        talk = [
            {"role": "user", "content": "I am vegetarian and allergic to nuts. I live in Lisbon."},
            {"role": "assistant", "content": "I will keep that in mind."},
        ]
        for each in client.add(talk, user_id="ana", metadata={"topic": "food"})["results"]:
            print(each["event"], each["memory"])

        found = client.search("is anyone allergic to nuts?", filters={"user_id": "ana", "topic": "food"})
        best = found["results"][0]
        print("found", best["memory"], best["metadata"])

        client.update(best["id"], text="I am vegan and allergic to nuts.")
        for event in client.history(best["id"]):
            print(event["event"], event["new_memory"])

        client.delete_all(user_id="ana")
        print("left", client.get_all(filters={"user_id": "ana"})["count"])


if __name__ == "__main__":
    main(*sys.argv[1:])
