"""The values of a JSON file, one at a time, so that a long list is never in memory as a whole."""

from __future__ import annotations

import codecs
import json
import lzma
import zipfile
import zlib
from typing import IO, TYPE_CHECKING, Any

from recollect.errors import InvalidInput
from recollect.transfer.files import UTF16_MARKS

if TYPE_CHECKING:
    from collections.abc import Iterator

VALUE_LIMIT = 32 * 1024 * 1024
"""Characters of one value. What is longer is no conversation, and would not fit into memory."""
_PIECE = 1 << 16
_STARTS = frozenset('{["-0123456789tfnNI')
_decoder = json.JSONDecoder()


def json_values(file: IO[bytes], name: str, limit: int = VALUE_LIMIT) -> Iterator[Any]:
    """The elements, if the file holds one list; otherwise the values in it, one after another.

    `InvalidInput` where it cannot be read any further; what came before was good.
    """
    text = _Text(file, name, limit)
    if text.next_letter() != "[":
        while text.next_letter():
            yield text.value()
        return
    text.take("[")
    ended = text.next_letter() == "]"
    while not ended:
        yield text.value()
        ended = text.next_letter() == "]"
        if not ended:
            text.take(",")
    text.take("]")
    if text.next_letter():
        raise text.wrong("something follows the list")


class _Text:
    """A window that slides over the text of a file."""

    def __init__(self, file: IO[bytes], name: str, limit: int) -> None:
        self._file = file
        self._name = name
        self._limit = limit
        self._decode = codecs.getincrementaldecoder("utf-8")("strict")
        self._window = ""
        self._at = 0
        self._passed = 0  # characters that have left the window
        self._bytes = 0
        self._wrong_byte: int | None = None  # counted from 1, where the text ends that can be read
        self._ended = False

    def next_letter(self) -> str:
        """The next one that is not white space, which is left behind; empty at the end."""
        while True:
            while self._at < len(self._window):
                letter = self._window[self._at]
                if letter not in " \t\r\n":
                    return letter
                self._at += 1
            if self._ended:
                return ""
            self._more(_PIECE)

    def take(self, letter: str) -> None:
        found = self.next_letter()
        if found != letter:
            raise self.wrong(
                f"{found!a} stands where {letter!r} was expected" if found else "it is cut short"
            )
        self._at += 1

    def value(self) -> Any:
        if (letter := self.next_letter()) not in _STARTS:
            raise self.wrong(f"{letter!a} begins no value" if letter else "it is cut short")
        piece = _PIECE
        while True:
            try:
                value, end = _decoder.raw_decode(self._window, self._at)
            except json.JSONDecodeError as error:
                if self._ended:
                    raise self.wrong(error.msg, error.pos) from None
            except (ValueError, RecursionError) as error:  # thousands of digits; brackets without end
                raise self.wrong(str(error)) from None
            else:
                # At the window's end, a number may go on.
                if end < len(self._window) or self._ended:
                    self._at = end
                    return value
            if len(self._window) - self._at > self._limit:
                raise self.wrong(f"a value does not end within {self._limit:,} characters")
            self._more(piece)
            piece *= 2

    def wrong(self, why: str, at: int | None = None) -> InvalidInput:
        place = self._passed + (self._at if at is None else at) + 1
        return InvalidInput(f"{self._name} is not JSON from character {place:,} on: {why}.")

    def _more(self, piece: int) -> None:
        if self._wrong_byte is not None:
            raise InvalidInput(f"{self._name} is not UTF-8 text: byte {self._wrong_byte:,} is wrong.")
        content = self._read(piece)
        waiting = self._decode.getstate()[0]
        try:
            text = self._decode.decode(content, final=not content)
        except UnicodeDecodeError as error:
            # What stands before it can be read, and is.
            text = (waiting + content)[: error.start].decode("utf-8")
            self._wrong_byte = self._bytes - len(waiting) + error.start + 1
        if self._bytes == 0:
            text = text.removeprefix("\ufeff")
        self._bytes += len(content)
        self._ended = not content and self._wrong_byte is None
        self._passed += self._at
        self._window = self._window[self._at :] + text
        self._at = 0

    def _read(self, piece: int) -> bytes:
        try:
            content = self._file.read(piece)
        except (OSError, EOFError, zlib.error, lzma.LZMAError, zipfile.BadZipFile) as error:
            raise InvalidInput(f"{self._name} could not be read to its end: {error}.") from error
        if self._bytes == 0 and content.startswith(UTF16_MARKS):
            raise InvalidInput(f"{self._name} is in UTF-16; save it as UTF-8 and import that.")
        return content
