"""From names to extractors."""

from __future__ import annotations

import subprocess
import sys

import pytest

from recollect.domain.errors import InvalidInput
from recollect.models.embedders import ModelOptions
from recollect.models.extractors import Rules, extractor_named


def test_none_is_no_extractor_and_a_model_without_a_name_is_asked_for() -> None:
    assert extractor_named("none") is None
    with pytest.raises(InvalidInput, match=r"Which model of openai.*openai:gpt-4o-mini"):
        extractor_named("openai: ")


@pytest.mark.parametrize("name", ["rules", " rules "])
def test_rules_need_nothing(name: str) -> None:
    assert extractor_named(name) == Rules()


@pytest.mark.parametrize("model", ["gpt-4o-mini", "llama3.2:3b", "org/model"])
def test_any_model_of_a_server_can_be_named(model: str) -> None:
    extractor = extractor_named(f"openai:{model}", ModelOptions(base_url="http://127.0.0.1:9/v1"))
    assert extractor is not None
    assert extractor.name == f"openai:{model}"


@pytest.mark.parametrize("name", ["", "regex", "rules:x", "none:x", "openai", "azure:gpt"])
def test_an_unknown_name_lists_those_there_are(name: str) -> None:
    with pytest.raises(InvalidInput, match="there are: none, rules, openai:MODEL"):
        extractor_named(name)


def test_the_key_is_not_in_what_is_printed() -> None:
    options = ModelOptions(base_url="http://me:secret-password@127.0.0.1:9", key="secret-key")
    assert "secret-key" not in repr(options)
    assert "secret" not in repr(extractor_named("openai:some-model", options))


def test_choosing_rules_imports_no_http() -> None:
    choose = "from recollect.models.extractors import extractor_named as named; named('rules')"
    code = f"import sys; {choose}; print(*sys.modules)"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert not {"httpx", "numpy"} & set(run.stdout.split())
