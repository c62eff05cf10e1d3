"""LangChain on a Recollect memory: a retriever, a vector store, a key-value store and chat histories."""

from recollect.integrations.langchain.chat_history import RecollectChatMessageHistory
from recollect.integrations.langchain.key_value_store import RecollectByteStore
from recollect.integrations.langchain.retriever import RecollectRetriever
from recollect.integrations.langchain.vector_store import RecollectVectorStore

__all__ = [
    "RecollectByteStore",
    "RecollectChatMessageHistory",
    "RecollectRetriever",
    "RecollectVectorStore",
]
