"""Formats of keys: what is found in any text, and what is left alone."""

from __future__ import annotations

import json
import sysconfig
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pi_core.plugin_api.clean_lines import CleanStream
from pi_redact.chance import lowered
from pi_redact.formats import FORMATS, _candidates, _possible, is_too_short, matches
from pi_redact.redactor import Redactor

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


CONTEXTS = (
    "{}",
    "export KEY={}",
    "'{}'",
    "(see {}.)",
    '"apiKey": "{}",',
    "Bearer {}\n",
    "a\n{}\nb",
    "https://x.org/?key={}&b=1",
    "token{}",
    "TOKEN7{}",
    "cat: /nonexist-{}: No such file",
    "my_{}",
    "key-{}",
    "%3D{}",
    "%22{}%22",
    "redirect=https%3A%2F%2Fx.org%2F%3Fkey%3D{}%26b%3D1",
    "line one\\n{}\\nline three",
    "\\t{}",
    "\\u0022{}\\u0022",
    '{{\\"key\\": \\"{}\\"}}',
    "\x1b[32m{}\x1b[0m",
    "\x1b[1;31m{}\x1b[m",
    "\x1b]0;{}\x07",
    "{}-old",
    "{}_1",
    "{}.",
    "{}...",
    "{},{{",
    "<b>{}</b>",
    "&quot;{}&quot;",
    "`{}`",
    "*{}*",
    "|{}|",
    "x:{};y",
    "/home/ann/{}/file",
    "\u200b{}\ufeff",
    "é{}é",
    "={}",
)


def test_keys_of_every_shape_are_replaced_without_any_setting(redactor, shapes):
    missed = [
        f"{name}, {number}"
        for number in range(10)
        for name, (text, secret) in shapes(number).items()
        if secret in redactor.redact(text)
    ]

    assert missed == []
    assert len(shapes(1)) >= 92


GLUED = {
    "deepseek",
    "square access",
    "discord bot",
    "twilio",
    "mailgun",
    "mailgun private",
    "mailchimp",
    "pulumi",
    "terraform",
}
"""Shapes with so little fixed text that they need an edge: after a letter or digit they are not found."""


def test_a_key_is_replaced_whatever_its_neighbours_are(redactor, shapes):
    keys = {name: key for name, (text, key) in shapes(1).items() if text.startswith("the key is ")}

    missed = [
        f"{name} in {context!r}"
        for name, key in keys.items()
        for context in CONTEXTS
        if key in redactor.redact(context.format(key))
    ]

    assert {row.partition(" in ")[0] for row in missed} <= GLUED
    assert len(missed) <= len(keys) * len(CONTEXTS) / 50, missed


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
        "password = getpass()",
        'password = os.environ["DB_PASSWORD"]',
        "DB_PASSWORD=${DB_PASSWORD}",
        "DB_PASSWORD=changeme",
        'DB_PASSWORD="your-password-here"',
        '"password": "Enter your password"',
        "api_key: str | None = None",
        "token = self.tokens[0]",
        "secret = sha256_key",
        "TOKEN=<your-token>",
        "password: string;",
        "PASSWORD_FILE=/run/secrets/db1",
        "Authorization: Bearer $TOKEN",
        "Authorization: Bearer <token>",
        "Cookie: name=value; theme=dark",
        'primary_key = "id"',
        'cache_key = "3f786850e387550fdab836ed7e6dc881de23001b"',
        "private_key: ed25519.Ed25519PrivateKey",
        "the basic idea is simple",
        "docker run -u 1000:1000 alpine",
        "AKIAIOSFODNN7EXAMPLE",
        "-----BEGIN PRIVATE KEY-----",
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


@pytest.mark.slow
def test_long_texts_end_however_hostile_they_are(redactor):
    begin = "-----BEGIN PRIVATE KEY-----"
    pieces = [
        "a", begin, begin + "A" * 70, "://a:", "password=", "password: '", "sk-", "eyJ", "key", "Cookie: a=b; ",
        "Authorization: ", "machine a login b ", "curl -u ", "_KEY_", "secret_key_", "ghp_", "A3-", "1/", ".", "-",
        "SG.", "Private-Lines: 1\nAAAAAAAAAAAAAAAA", "\\", " ", "\n", "%3D", "0:AA", "M.", "pat.", "sig=%25",
    ]  # fmt: skip
    for piece in pieces:
        redactor.redact(piece * (100_000 // len(piece)))  # minutes each if the time grows with the square


@given(before=st.text(max_size=200), name=st.sampled_from(NAMES), after=st.text(max_size=200))
def test_redacting_twice_changes_nothing_more(made_up, before, name, after):
    redactor, key = Redactor(b"k" * 32), made_up(1)[name]

    once = redactor.redact(f"{before} {key} {after}")

    assert key.removeprefix("AccountKey=") not in once
    assert redactor.redact(once) == once


@given(data=st.data(), around=st.text(alphabet="ab1 \n-_=:'\"", max_size=400))
def test_a_key_in_pieces_stays_hidden_wherever_they_are_cut(shapes, data, around):
    text, secret = data.draw(st.sampled_from([*shapes(1).values()]))
    text = f"{around} {text}\n{around}"
    cuts = sorted(data.draw(st.lists(st.integers(0, len(text)), max_size=12)))
    stream = CleanStream(Redactor(b"k" * 32).redact)

    written = "".join(stream.feed(text[begin:end]) for begin, end in pairwise([0, *cuts, len(text)])) + stream.end()

    assert secret not in written


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


def test_strict_redaction_takes_values_of_all_key_like_names(redactor):
    text = "auth_data = qX7rT2mN9vB4kL8s:  # and color = 'qX7rT2mN9vB4kL8t'"

    assert redactor.redact(text) is text
    strict = Redactor(b"k" * 32, strict=True).redact(text)
    assert "qX7rT2mN9vB4kL8s" not in strict
    assert "qX7rT2mN9vB4kL8t" in strict


@given(st.permutations(["alpha-bravo-charlie", "bravo-charlie-delta-echo", "charlie-delta"]))
def test_of_secrets_that_overlap_nothing_stays(names):
    redactor = Redactor(b"k" * 32)
    redactor.know((f"s{number}", name) for number, name in enumerate(names))
    for text in ("alpha-bravo-charlie-delta-echo", "x alpha-bravo-charlie y", "bravo-charlie-delta-echo"):
        clean = redactor.redact(text)
        assert not any(word in clean for word in ("alpha", "bravo", "charlie", "delta", "echo")), clean


def test_a_key_in_an_address_that_is_a_secret_itself_leaves_no_rest(made_up):
    redactor, key = Redactor(b"k" * 32), made_up(1)["github"]
    address = f"https://ann:{key}@git.example/private-repository"
    redactor.know([("address", address)])

    clean = redactor.redact(f"clone {address} now")

    assert "private-repository" not in clean
    assert key not in clean
    assert clean.endswith(" now")


WORDS = [start for each in FORMATS for start in each.starts]


@given(st.lists(st.sampled_from([*WORDS, "a1", "word", "://", " ", "\n", "=", "x" * 14, "É", "\u0130"]), max_size=12))
def test_the_formats_that_may_occur_are_those_whose_fixed_text_is_where_it_is_searched(parts):
    text = "".join(parts)
    words, lower = _candidates(text), lowered(text)

    def searched(each):
        return words if each.is_word else lower if each.ignores_case else text

    expected = [n for n, each in enumerate(FORMATS) if any(start in searched(each) for start in each.starts)]
    assert [*_possible(text)] == expected


@given(st.text(max_size=15) | st.lists(st.sampled_from([*WORDS, "a1", "=", ":", " "]), max_size=3).map("".join))
def test_a_text_that_is_too_short_has_no_match(text):
    if is_too_short(text):
        assert [*matches(text)] == []
