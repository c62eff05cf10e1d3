"""Token counting: how much of a language model's window a text takes, without asking the model.

Every model cuts text in its own way, and its vocabulary takes megabytes that we do not ship. So this counts
what a byte-pair vocabulary would at most make of ordinary text: one token for every four Latin letters begun,
for every three digits and for every two letters of other alphabets, and one for every mark, every run of line
breaks and every letter of a script without spaces.
"""

from __future__ import annotations

from recollect.text.lazy_pattern import compile_later

# What is of ASCII alone is cut as it is counted: each piece is one token.
_PIECES = compile_later(r"[A-Za-z]{1,4}|\d{1,3}|[^\W\d_]+|[^\w\s]|_|\n+")
_DIGITS = 3
_OTHER_LETTERS = 2
_WIDE_FROM = 0x0E00


def count_tokens(text: str) -> int:
    """An estimate on the high side."""
    pieces = _PIECES.findall(text)
    if text.isascii():
        return len(pieces)
    return sum(1 if piece.isascii() else _tokens_of(piece) for piece in pieces)


def _tokens_of(piece: str) -> int:
    """Of a piece that is not of ASCII alone."""
    first = piece[0]
    if first.isdigit():
        return -(-len(piece) // _DIGITS)
    if not first.isalpha():
        return max(1, len(piece.encode(errors="surrogatepass")) // 2)
    wide = sum(letter >= chr(_WIDE_FROM) for letter in piece)
    return wide + -(-(len(piece) - wide) // _OTHER_LETTERS)
