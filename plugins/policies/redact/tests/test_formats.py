"""Formats of keys: what is found in any text, and what is left alone."""

from __future__ import annotations

import json
import sysconfig
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pi_redact._redactor import MARK, Redactor

NAMES = (
    "anthropic openai openai-old openrouter github github-fine gitlab aws google slack stripe sendgrid npm pypi"
    " huggingface groq xai digitalocean vault telegram jwt azure"
).split()


@pytest.fixture
def keys(made_up):
    assert [*made_up(1)] == NAMES
    return made_up(1)


@pytest.fixture
def redactor():
    return Redactor(b"k" * 32)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize(
    "around",
    [
        "{}",
        "export KEY={}",
        "'{}'",
        "(see {}.)",
        '"apiKey": "{}",',
        "Bearer {}\n",
        "a\n{}\nb",
        "https://x.org/?key={}&b=1",
    ],
)
def test_a_key_of_each_format_is_replaced_wherever_it_is(redactor, keys, name, around):
    key = keys[name]

    text = redactor.redact(around.format(key))

    assert key.removeprefix("AccountKey=") not in text
    assert len(MARK.findall(text)) == 1


def test_a_private_key_is_replaced_as_a_whole_also_as_json(redactor, private_key):
    key = private_key(1)

    for text in (key, json.dumps({"key": key}), f"cat id_rsa\n{key}\n"):
        redacted = redactor.redact(text)
        assert not any(line in redacted for line in key.splitlines()[1:-1])
        assert "PRIVATE KEY" in redacted


def test_a_password_in_an_address_is_replaced(redactor):
    assert (
        redactor.redact("postgres://bob:tr0ub4dor@db/x")
        == f"postgres://bob:{redactor.mark('password', 'tr0ub4dor')}@db/x"
    )


@pytest.mark.parametrize(
    "text",
    [
        "postgres://user:password@localhost/db",
        "https://user:<password>@example.org",
        "sk-where-do-we-go-from-here-my-friend",
        "task-list-of-things-to-do-today-and-tomorrow",
        "AKIAIOSFODNN7",
        "eyJhbGciOiJub25lIn0",
        "npm_config_registry_and_other_long_variable_names",
        "hf_hub_download",
        "the sha is 3f786850e387550fdab836ed7e6dc881de23001b",
        "[secret:github:3f9a3f]",
    ],
)
def test_what_is_no_key_stays(redactor, text):
    assert redactor.redact(text) is text


@pytest.mark.slow
def test_pythons_own_library_has_no_more_than_one_false_alarm_in_five_megabytes(redactor):
    root = Path(sysconfig.get_path("stdlib"))
    files = [file for file in root.rglob("*.py") if not {"test", "tests", "site-packages"} & {*file.parts}]
    texts = [file.read_text(encoding="utf-8", errors="replace") for file in files]

    alarms = [text for text in texts if redactor.redact(text) is not text]

    assert len(alarms) <= sum(map(len, texts)) / 5_000_000


@given(before=st.text(max_size=200), name=st.sampled_from(NAMES), after=st.text(max_size=200))
def test_redacting_twice_changes_nothing_more(made_up, before, name, after):
    redactor, key = Redactor(b"k" * 32), made_up(1)[name]

    once = redactor.redact(f"{before} {key} {after}")

    assert key.removeprefix("AccountKey=") not in once
    assert redactor.redact(once) == once


def test_marks_are_the_same_for_the_same_secret_and_the_same_key_alone(redactor, keys, made_up):
    key = keys["github"]

    assert redactor.redact(f"{key} {key}").split()[0] == redactor.redact(key)
    assert Redactor(b"k" * 32).redact(key) == redactor.redact(key)
    assert Redactor(b"x" * 32).redact(key) != redactor.redact(key)
    assert redactor.redact(made_up(2)["github"]) != redactor.redact(key)


def test_known_values_count_before_formats_and_the_longest_first(redactor):
    redactor.know([("SHORT_TOKEN", "abcdefgh"), ("LONG_TOKEN", "abcdefghij"), ("TINY", "abc")])

    assert redactor.redact("abcdefghij abcdefgh abc") == (
        f"{redactor.mark('LONG_TOKEN', 'abcdefghij')} {redactor.mark('SHORT_TOKEN', 'abcdefgh')} abc"
    )


def test_a_mark_leads_back_to_its_secret_in_the_process_that_made_it(redactor, keys):
    text = f"curl -H 'Authorization: Bearer {keys['openai']}'"

    assert redactor.restore(redactor.redact(text)) == text
    assert Redactor(b"k" * 32).restore(redactor.redact(text)) == redactor.redact(text)


def test_strict_redaction_takes_values_of_key_like_names(redactor):
    text = "db_password = 'qX7rT2mN9vB4kL8s'  # and color = 'qX7rT2mN9vB4kL8t'"

    assert redactor.redact(text) is text
    strict = Redactor(b"k" * 32, strict=True).redact(text)
    assert "qX7rT2mN9vB4kL8s" not in strict
    assert "qX7rT2mN9vB4kL8t" in strict
