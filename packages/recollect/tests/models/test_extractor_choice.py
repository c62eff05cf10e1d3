"""From names to extractors."""

from __future__ import annotations

import subprocess
import sys

import pytest

from recollect.domain.errors import InvalidInput
from recollect.models.embedders import ModelOptions
from recollect.models.extractors import Rules, extractor_named


def test_a_name_gives_its_extractor_or_says_which_names_there_are() -> None:
    assert extractor_named("none") is None
    assert extractor_named("rules") == extractor_named(" rules ") == Rules()
    with pytest.raises(InvalidInput, match=r"Which model of openai.*openai:gpt-4o-mini"):
        extractor_named("openai: ")
    for name in ("", "regex", "rules:x", "none:x", "openai", "azure:gpt"):
        with pytest.raises(InvalidInput, match="there are: none, rules, openai:MODEL"):
            extractor_named(name)
    # Any model of a server can be named.
    for name in ("openai:gpt-4o-mini", "openai:llama3.2:3b", "openai:org/model"):
        extractor = extractor_named(name, ModelOptions(base_url="http://127.0.0.1:9/v1"))
        assert extractor is not None
        assert extractor.name == name


def test_the_key_is_not_in_what_is_printed() -> None:
    options = ModelOptions(base_url="http://me:secret-password@127.0.0.1:9", key="secret-key")
    assert "secret-key" not in repr(options)
    assert "secret" not in repr(extractor_named("openai:some-model", options))


def test_choosing_rules_imports_no_http() -> None:
    choose = "from recollect.models.extractors import extractor_named as named; named('rules')"
    code = f"import sys; {choose}; print(*sys.modules)"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert not {"httpx", "numpy"} & set(run.stdout.split())
