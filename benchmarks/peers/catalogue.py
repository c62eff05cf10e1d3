"""The measured peers, with their packages, search methods and durability."""

from __future__ import annotations

from agents import McpMemoryService
from databases import Chroma, Lance, Txtai
from ours import ByHandPeer, Recollect
from peer import Peer

OWN_ENVIRONMENT: tuple[str, ...] = ()

PEERS = (
    Peer(
        "Recollect",
        OWN_ENVIRONMENT,
        "meaning and words, with confidence, and recorded",
        "synced before the call returns",
        Recollect,
        open_as_users_do=Recollect.with_own_model,
    ),
    Peer(
        "sqlite-vec + FTS5 by hand",
        OWN_ENVIRONMENT,
        "meaning and words, fused by rank",
        "synced before the call returns",
        ByHandPeer,
    ),
    Peer(
        "txtai",
        ("txtai",),
        "meaning and words (hybrid)",
        "nothing is on the disk before save(), which writes all of it",
        Txtai,
    ),
    Peer("Chroma", ("chromadb",), "meaning alone", "synced before the call returns", Chroma),
    Peer(
        "LanceDB",
        ("lancedb", "pyarrow", "pandas"),
        "meaning and words (hybrid)",
        "left to the system's cache",
        Lance,
    ),
    Peer(
        "mcp-memory-service",
        ("mcp-memory-service", "pysqlite3-binary"),
        "meaning alone, as its server asks by default",
        "left to the system's cache",
        McpMemoryService,
        largest=10_000,
    ),
)
NAMES = {peer.name: peer for peer in PEERS}
