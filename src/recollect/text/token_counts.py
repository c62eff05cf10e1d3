"""Token counting: how much of a language model's window a text takes, without asking the model.

Every model cuts text in its own way, and its vocabulary takes megabytes that we do not ship. So this counts
what a byte-pair vocabulary would at most make of ordinary text: one token for every four Latin letters begun,
for every three digits and for every two letters of other alphabets, and one for every mark, every run of line
breaks and every letter of a script without spaces.
"""

from __future__ import annotations

from recollect.text.lazy_pattern import compile_later

_PIECES = compile_later(r"[A-Za-z]+|\d+|[^\W\d_]+|[^\w\s]|_|\n+")
_LATIN_LETTERS = 4
_DIGITS = 3
_OTHER_LETTERS = 2
_WIDE_FROM = 0x0E00


def count_tokens(text: str) -> int:
    """An estimate on the high side."""
    return sum(map(_tokens_of, _PIECES.findall(text)))


def _tokens_of(piece: str) -> int:
    first = piece[0]
    if first.isdigit():
        return -(-len(piece) // _DIGITS)
    if not first.isalpha():
        return max(1, len(piece.encode(errors="surrogatepass")) // 2) if first > "\x7f" else 1
    if piece.isascii():
        return -(-len(piece) // _LATIN_LETTERS)
    wide = sum(letter >= chr(_WIDE_FROM) for letter in piece)
    return wide + -(-(len(piece) - wide) // _OTHER_LETTERS)
