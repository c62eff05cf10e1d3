"""Find likely keys and passwords in a text, and replace them by a visible placeholder.

Three kinds of evidence count: a format that only keys have (`ghp_…`, `AKIA…`), a name before the value
(`password=…`), and a value that looks random. Hashes, UUIDs and paths do not count as random.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from math import log2

from recollect.domain.lazy_dataclass import dataclass
from recollect.language.words import alternatives


@dataclass(frozen=True, slots=True)
class SecretSpan:
    start: int
    end: int
    kind: str


_FORMS = {
    "private key": r"-----BEGIN [A-Z0-9 ]{0,30}PRIVATE KEY(?: BLOCK)?-----.*?"
    r"(?:-----END [A-Z0-9 ]{0,30}-----|\Z)",
    "GitHub token": r"\b(?:gh[pousr]_[A-Za-z0-9]{30,255}|github_pat_[A-Za-z0-9_]{40,255})",
    "GitLab token": r"\bglpat-[\w.-]{20,255}",
    "AWS key": r"\b(?:AKIA|ASIA)[0-9A-Z]{16}\b",
    "Slack token": r"\bxox[abeoprs]-[A-Za-z0-9-]{10,255}|\bxapp-\d-[A-Za-z0-9-]{10,255}",
    "Slack webhook": r"https://hooks\.slack\.com/services/[\w/]{20,100}",
    "Google key": r"\bAIza[0-9A-Za-z_-]{35}|\bya29\.[\w-]{20,2000}|\bGOCSPX-[\w-]{20,64}",
    "Stripe key": r"\b[rs]k_(?:live|test)_[0-9A-Za-z]{16,255}|\bwhsec_[0-9A-Za-z]{24,255}",
    "npm token": r"\bnpm_[A-Za-z0-9]{36}\b",
    "PyPI token": r"\bpypi-[A-Za-z0-9_-]{50,1000}",
    "Hugging Face token": r"\bhf_[A-Za-z0-9]{30,64}\b",
    "SendGrid key": r"\bSG\.[\w-]{16,64}\.[\w-]{16,64}",
    "DigitalOcean token": r"\bdo[opr]_v1_[0-9a-f]{64}",
    "Telegram token": r"\b\d{8,10}:AA[\w-]{33}\b",
    "Recollect token": r"\brecollect_(?=[\w-]*\d)(?=[\w-]*[A-Z])[\w-]{40,64}",
    "Vault token": r"\bhv[sb]\.[\w-]{20,255}",
    "Shopify token": r"\bshp(?:at|ca|pa|ss)_[0-9a-fA-F]{32}\b",
    "Grafana token": r"\bglsa_[A-Za-z0-9]{32}_[0-9a-f]{8}\b",
    "Docker token": r"\bdckr_pat_[\w-]{20,64}",
    "Groq key": r"\bgsk_[A-Za-z0-9]{40,64}\b",
    "age key": r"\bAGE-SECRET-KEY-1[0-9A-Z]{50,64}",
    "JSON web token": r"\beyJ[\w-]{10,8000}\.eyJ[\w-]{10,8000}\.[\w-]{10,2000}",
}
_FORM = re.compile("|".join(f"(?P<f{place}>{form})" for place, form in enumerate(_FORMS.values())), re.DOTALL)
# `_all_spans` requires a digit, too: ordinary words may have this form (`sk-learn-compatible-estimators`).
_API_KEY = re.compile(r"\bsk-[A-Za-z0-9_-]{20,255}")
_BEARER = re.compile(r"\b(?:bearer|basic)\s+([\w.~+/-]{16,2000}={0,2})", re.IGNORECASE)
_IN_URL = re.compile(r"\b[a-z][a-z0-9+.-]{1,20}://[^\s/:@]{0,100}:([^\s/@]{1,200})@", re.IGNORECASE)

_PASSWORD_NAME = alternatives("words", "password_names")
_KEY_NAME = r"secret|api[_-]?key|access[_-]?key|account[_-]?key|private[_-]?key|credentials?|token"
_VALUE = r"""(?:"(?P<d>[^"\n]{4,500})"|'(?P<s>[^'\n]{4,500})'|(?P<plain>[^\s"'`,;<>)\]}]{4,500}))"""
# Secrets in commands: `--token …`, `curl -u user:…`, `mysql -p…`, `sshpass -p …`.
_AS_OPTION = re.compile(
    rf"""(?<!\S)(?:--?(?:[a-z]{{1,20}}-)?(?:{_PASSWORD_NAME}|pass|{_KEY_NAME})\s+
        |(?:curl|wget)\b[^\n|;]{{0,200}}?\s(?:-u|--user)[\s=]["']?[^\s:"']{{1,100}}:
        |(?:mysql|mysqldump|mariadb)\b[^\n|;]{{0,200}}?\s-p
        |sshpass\s+-p\s?){_VALUE}""",
    re.IGNORECASE | re.VERBOSE,
)
_ASSIGNED = re.compile(
    rf"""(?<![A-Za-z])(?P<name>[\w.-]{{0,60}}?(?:(?P<password>{_PASSWORD_NAME})|{_KEY_NAME})[\w-]{{0,40}})["']?"""
    rf"""(?P<sign>\s?(?:=>|:=|=|:)\s?){_VALUE}""",
    re.IGNORECASE,
)
_IS = alternatives("words", "password_is")
_IN_PROSE = re.compile(
    rf"""\b(?:{_PASSWORD_NAME}|pin)\b[^.\n:=]{{0,30}}?\s(?:{_IS}):?\s+{_VALUE}""", re.IGNORECASE
)
# `the password for the NAS: …`, `the token is …`. Here, only values with letters and digits count.
_MIXED_IN_PROSE = re.compile(
    rf"""\b(?:(?:{_PASSWORD_NAME})\s(?:{alternatives("words", "password_for")})\s[^.\n:=]{{1,30}}:"""
    rf"""|(?P<key>token|key|secret)\s(?:{_IS}):?)\s+{_VALUE}""",
    re.IGNORECASE,
)
_ANY_ASSIGNED = re.compile(r"""[\w.-]{1,60}["']?\s?[=:]\s?["']?(?P<value>[A-Za-z0-9+/_=-]{32,500})""")

_NO_VALUE = re.compile(
    r"""(?: \$ | % | \{ | < | \[ | \* | \.\.\. | … | x{3,} | your | my[_-] | example
        | change[_-]?me | redacted | (?:none|null|nil|true|false|undefined)\b
        | (?:os|env|process|self|config|settings)\. )""",
    re.IGNORECASE | re.VERBOSE,
)
_ENDS_AS_PASSWORD = re.compile(rf"(?:{_PASSWORD_NAME})$", re.IGNORECASE)
_HEX_OR_PATH = re.compile(r"[0-9a-f-]+|[0-9A-F-]+|.*[/\\].*|.*\.[a-z]{2,5}")
_HEX_OR_UUID = re.compile(r"[0-9a-f-]+|[0-9A-F-]+")
_SHORTEST_KEY, _SHORTEST_KEY_IN_PROSE, _SHORTEST_PASSWORD_IN_PROSE = 12, 20, 6
_LEAST_ENTROPY = 4.0
"""Bits per character. In base64, 32 random characters have about 4.5; words and paths rarely reach 4."""


def secrets_in(text: str) -> list[SecretSpan]:
    """Return the likely secrets, in order and without overlaps."""
    kept: list[SecretSpan] = []
    for span in sorted(_all_spans(text), key=lambda each: (each.start, -each.end)):
        if not kept or span.start >= kept[-1].end:
            kept.append(span)
    return kept


def without_secrets(text: str) -> tuple[str, int]:
    """Return the text with a placeholder for each secret, and the number of secrets."""
    spans = secrets_in(text)
    for span in reversed(spans):
        text = f"{text[: span.start]}[{span.kind} left out]{text[span.end :]}"
    return text, len(spans)


def _all_spans(text: str) -> Iterator[SecretSpan]:
    kinds = list(_FORMS)
    for found in _FORM.finditer(text):
        yield SecretSpan(found.start(), found.end(), kinds[int(str(found.lastgroup)[1:])])
    for form, group, kind in ((_API_KEY, 0, "API key"), (_BEARER, 1, "token")):
        for found in form.finditer(text):
            if any(map(str.isdigit, found[group])):
                yield SecretSpan(found.start(group), found.end(group), kind)
    for found in _IN_URL.finditer(text):
        if not _NO_VALUE.match(found[1]):
            yield SecretSpan(found.start(1), found.end(1), "password")
    yield from _assigned_secrets(text)


def _assigned_secrets(text: str) -> Iterator[SecretSpan]:
    for found in _ASSIGNED.finditer(text):
        if _is_secret_value(found):
            yield _value_span(found, "password" if found["password"] else "secret")
    for form in (_IN_PROSE, _AS_OPTION):
        for found in form.finditer(text):
            value = _value(found)
            if not _NO_VALUE.match(value) and not value.rstrip(".!?").replace("-", "").isalpha():
                yield _value_span(found, "password")
    for found in _MIXED_IN_PROSE.finditer(text):
        shortest = _SHORTEST_PASSWORD_IN_PROSE if found["key"] is None else _SHORTEST_KEY_IN_PROSE
        value = _value(found)
        if len(value) >= shortest and _is_mixed(value) and not _HEX_OR_PATH.fullmatch(value):
            yield _value_span(found, "password" if found["key"] is None else "secret")
    for found in _ANY_ASSIGNED.finditer(text):
        if _is_generated(found["value"]):
            yield SecretSpan(found.start("value"), found.end("value"), "secret")


def _value(found: re.Match[str]) -> str:
    return found["d"] or found["s"] or found["plain"]


def _is_mixed(value: str) -> bool:
    return any(map(str.isdigit, value)) and any(map(str.isalpha, value))


def _value_span(found: re.Match[str], kind: str) -> SecretSpan:
    group = next(name for name in ("d", "s", "plain") if found[name] is not None)
    return SecretSpan(found.start(group), found.end(group), kind)


def _is_secret_value(found: re.Match[str]) -> bool:
    """Whether the assigned text is a value rather than a type, a call or a placeholder."""
    plain, value = found["plain"], _value(found)
    if _NO_VALUE.match(value) or value.casefold() == found["name"].casefold():
        return False
    if " " in value.strip():
        # Only after a password's name, and with a digit, is it a passphrase; otherwise, a sentence.
        return _ENDS_AS_PASSWORD.search(found["name"]) is not None and any(map(str.isdigit, value))
    if plain is not None and ("(" in plain or (plain.endswith((".", "?", "!")) and plain[:-1].isalpha())):
        return False
    if not found["password"]:
        # A `token` or `key` may hold a count or a name, so only long values with letters and digits count.
        return len(value) >= _SHORTEST_KEY and _is_mixed(value)
    tight = found["sign"] in {"=", ":="}
    return plain is None or tight or not plain.replace("_", "").isalpha()


def _is_generated(value: str) -> bool:
    if _HEX_OR_UUID.fullmatch(value) or re.match(r"sha\d+-", value) or value.count("/") > 2:
        return False
    bare = value.rstrip("=")
    classes = (str.isupper, str.islower, str.isdigit)
    if not all(any(map(is_of, bare)) for is_of in classes):
        return False
    counts = Counter(bare)
    entropy = -sum(count / len(bare) * log2(count / len(bare)) for count in counts.values())
    return entropy >= _LEAST_ENTROPY
