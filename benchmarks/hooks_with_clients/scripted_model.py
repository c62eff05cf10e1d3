"""A model server on loopback that answers every request with the same words, and keeps what it was asked.

It speaks, as far as the clients need it: Anthropic's Messages, OpenAI's Responses and Chat Completions, and
Gemini's streamGenerateContent.
"""

from __future__ import annotations

import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Self


class ScriptedModel:
    """A context: within it, a server at `url`."""

    def __init__(self, answer: str) -> None:
        self.answer = answer
        self.requests: list[tuple[str, str]] = []
        """Path and body, in order."""
        model = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def log_message(self, *_: Any) -> None:
                """Nothing: standard error is the clients'."""

            def do_GET(self) -> None:  # the library's name
                self._send(
                    "application/json", json.dumps({"object": "list", "data": [], "models": []}).encode()
                )

            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers.get("Content-Length") or 0)).decode(
                    "utf-8", "replace"
                )
                model.requests.append((self.path, body))
                kind, reply = model.reply(self.path, body)
                self._send(kind, reply)

            def _send(self, kind: str, reply: bytes) -> None:
                self.send_response(200)
                self.send_header("Content-Type", kind)
                self.send_header("Content-Length", str(len(reply)))
                self.end_headers()
                self.wfile.write(reply)

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)

    def __enter__(self) -> Self:
        threading.Thread(target=self._server.serve_forever, daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._server.server_port}"

    def reply(self, path: str, body: str) -> tuple[str, bytes]:  # noqa: PLR0911  # one for each protocol
        events = "text/event-stream"
        if "count_tokens" in path or "countTokens" in path:
            return "application/json", json.dumps({"input_tokens": 10, "totalTokens": 10}).encode()
        if path.startswith("/v1/messages"):
            streams = json.loads(body).get("stream")
            return (events, self._messages()) if streams else ("application/json", self._message())
        if "responses" in path:
            return events, self._responses()
        if "chat/completions" in path:
            return events, self._completions()
        if "streamGenerateContent" in path:
            return events, f"data: {json.dumps(self._gemini())}\n\n".encode()
        if "generateContent" in path:
            return "application/json", json.dumps(self._gemini()).encode()
        return "application/json", b"{}"

    def _message(self) -> bytes:
        usage = {"input_tokens": 1, "output_tokens": 1}
        message = {"id": "msg_1", "type": "message", "role": "assistant", "model": "scripted", "usage": usage}
        content = [{"type": "text", "text": self.answer}]
        return json.dumps({**message, "content": content, "stop_reason": "end_turn"}).encode()

    def _messages(self) -> bytes:
        start = {**json.loads(self._message()), "content": [], "stop_reason": None}
        delta = {"type": "text_delta", "text": self.answer}
        return _stream(
            ("message_start", {"message": start}),
            ("content_block_start", {"index": 0, "content_block": {"type": "text", "text": ""}}),
            ("content_block_delta", {"index": 0, "delta": delta}),
            ("content_block_stop", {"index": 0}),
            ("message_delta", {"delta": {"stop_reason": "end_turn"}, "usage": {"output_tokens": 1}}),
            ("message_stop", {}),
        )

    def _responses(self) -> bytes:
        text = {"type": "output_text", "text": self.answer, "annotations": []}
        item = {"type": "message", "id": "i1", "role": "assistant", "status": "completed", "content": [text]}
        usage = {"input_tokens": 1, "output_tokens": 1, "total_tokens": 2}
        done = {"id": "r1", "object": "response", "status": "completed", "output": [item], "usage": usage}
        return _stream(
            ("response.created", {"response": {"id": "r1"}}),
            ("response.output_item.added", {"output_index": 0, "item": {**item, "content": []}}),
            (
                "response.output_text.delta",
                {"item_id": "i1", "output_index": 0, "content_index": 0, "delta": self.answer},
            ),
            ("response.output_item.done", {"output_index": 0, "item": item}),
            ("response.completed", {"response": done}),
        )

    def _completions(self) -> bytes:
        chunk = {"id": "c1", "object": "chat.completion.chunk", "created": 1, "model": "scripted"}
        first = {"index": 0, "delta": {"role": "assistant", "content": self.answer}, "finish_reason": None}
        last = {"index": 0, "delta": {}, "finish_reason": "stop"}
        lines = [f"data: {json.dumps({**chunk, 'choices': [choice]})}\n\n" for choice in (first, last)]
        return "".join([*lines, "data: [DONE]\n\n"]).encode()

    def _gemini(self) -> dict[str, Any]:
        content = {"role": "model", "parts": [{"text": self.answer}]}
        usage = {"promptTokenCount": 1, "candidatesTokenCount": 1, "totalTokenCount": 2}
        return {
            "candidates": [{"content": content, "finishReason": "STOP", "index": 0}],
            "usageMetadata": usage,
        }


def _stream(*events: tuple[str, dict[str, Any]]) -> bytes:
    return "".join(
        f"event: {name}\ndata: {json.dumps({'type': name, **data})}\n\n" for name, data in events
    ).encode()
