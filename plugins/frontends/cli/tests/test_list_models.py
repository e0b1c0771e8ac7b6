"""``pi --list-models`` and ``--api-key``: which models can be named, and a key for one run."""

from __future__ import annotations

import re

import pytest

from pi_cli.list_models import size

pytestmark = pytest.mark.slow  # each starts programs that take seconds

TABLE = """
from pathlib import Path

from pi_hookspecs import MessageBuilder, Model, ProviderInfo, hookimpl

class Locked:
    api = "locked"

    async def stream(self, model, context, options):
        builder = MessageBuilder(model)
        start = builder.text_start()
        yield builder.text(start.content_index, f"key {options.api_key}")
        yield builder.text_end(start.content_index)
        yield builder.done()

@hookimpl
def register_providers():
    return [Locked()]

@hookimpl
def register_models():
    big = Model(id="big-9", name="B", api="locked", provider="zoo", context_window=200_000, max_tokens=8192,
                reasoning=True, input=("text", "image"))
    small = Model(id="small", name="S", api="locked", provider="zoo", context_window=1_000_000, max_tokens=500)
    return [ProviderInfo(id="zoo", name="Zoo", api="locked", key_variables=("ZOO_API_KEY",), default_model="small",
                         models=(small, big))]
"""

UNRELATED = """
from pathlib import Path

from pi_hookspecs import hookimpl

(Path(__file__).parent / "imported").touch()

@hookimpl
def turn_start(event):
    pass
"""


@pytest.fixture
def zoo(pi):
    pi.install("zoo", TABLE)
    pi.install("unrelated", UNRELATED)
    assert pi.run("plugins").returncode == 0
    (pi.site / "imported").unlink()
    return pi


def test_the_table_has_a_line_for_each_model(zoo):
    done = zoo.run("--list-models", "zoo/")

    assert (done.returncode, done.stderr) == (0, "")
    assert [line.split() for line in done.stdout.splitlines()] == [
        ["provider", "model", "context", "max-out", "thinking", "images", "usable"],
        ["zoo", "big-9", "200K", "8.2K", "yes", "yes", "no"],
        ["zoo", "small", "1M", "500", "no", "no", "no"],
    ]


def test_without_a_search_those_are_listed_that_can_be_used(zoo):
    done = zoo.run("--list-models", ZOO_API_KEY="k")
    rows = [line.split() for line in done.stdout.splitlines()[1:]]

    assert done.returncode == 0
    assert {(row[0], row[-1]) for row in rows} == {("zoo", "yes")}
    assert re.fullmatch(
        r"pi --list-models --all lists 1,\d+ more, which need a key, a login or a plugin.\n", done.stderr
    )


def test_all_models_are_listed_where_that_is_asked_for_the_usable_ones_first(zoo):
    done = zoo.run("--list-models", "--all", ZOO_API_KEY="k")
    rows = [line.split() for line in done.stdout.splitlines()[1:]]

    assert (done.returncode, done.stderr) == (0, "")
    assert len(rows) > 1000
    assert [(row[0], " ".join(row[6:])) for row in rows[:4]] == [
        ("zoo", "yes"),
        ("zoo", "yes"),
        ("offline", "by name"),
        ("alibaba", "no"),
    ]


def test_a_search_finds_the_usable_ones_first(zoo):
    (zoo.agent_dir / "models.json").write_text(
        '{"providers": {"a-zoo": {"baseUrl": "u", "api": "locked", "models": [{"id": "small"}]}}}'
    )
    done = zoo.run("--list-models", "zoo/small", ZOO_API_KEY="k")

    rows = [line.split() for line in done.stdout.splitlines()[1:]]
    assert [(row[0], row[-1]) for row in rows] == [("zoo", "yes"), ("a-zoo", "no")]


def test_without_any_key_it_says_what_to_set(zoo):
    done = zoo.run("--list-models")

    assert done.stdout == ""
    missing, keys, stand_in, rest = done.stderr.splitlines()
    assert missing == "No API key found for any model."
    assert keys.startswith("Sign in with pi auth login, or set a provider's key (ANTHROPIC_API_KEY, ")
    assert stand_in.startswith("To try pi without a key or a network: --model offline/rules")
    assert rest.startswith("pi --list-models --all lists 1,")


def test_all_goes_with_a_list(zoo):
    done = zoo.run("--all", "-p", "hi")

    assert (done.returncode, done.stderr) == (1, "Error: --all requires --list-models\n")


def test_no_result_is_reported_on_stdout(zoo):
    done = zoo.run("--list-models", "q!x")

    assert (done.returncode, done.stdout, done.stderr) == (0, 'No models matching "q!x"\n', "")


def test_with_a_warm_index_only_plugins_with_models_are_imported(zoo):
    zoo.run("--list-models", "zoo/")

    assert not (zoo.site / "imported").exists()


def test_the_users_own_models_are_listed_and_problems_reported(zoo):
    (zoo.agent_dir / "models.json").write_text(
        '{"providers": {"mine": {"baseUrl": "u", "api": "a", "models": [{"id": "x1"}]},\n"bad": 1}}'
    )
    done = zoo.run("--list-models", "mine/")

    assert done.stdout.splitlines()[1].split() == ["mine", "x1", "128K", "16.4K", "no", "no", "no"]
    assert "models.json, line 2: provider 'bad' must be an object" in done.stderr


@pytest.mark.parametrize(
    ("tokens", "text"),
    [(200_000, "200K"), (8192, "8.2K"), (1_000_000, "1M"), (1_048_576, "1.0M"), (999, "999"), (16_384, "16.4K")],
)
def test_sizes(tokens, text):
    assert size(tokens) == text


def test_a_key_on_the_command_line_is_used_and_not_stored(zoo):
    arguments = ["--no-session", "-p", "hi"]  # the answer has the key in it
    done = zoo.run("--model", "zoo/big-9", "--api-key", "sk-1", *arguments, ZOO_API_KEY="sk-2")
    by_provider = zoo.run("--provider", "zoo", "--api-key", "sk-3", *arguments)

    assert (done.returncode, done.stdout) == (0, "key sk-1\n")
    assert by_provider.stdout == "key sk-3\n"
    assert not any(b"sk-1" in file.read_bytes() for file in zoo.agent_dir.rglob("*") if file.is_file())


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--api-key", "sk-1", "hi"], "--api-key requires a model"),
        (["--api-key", "", "--model", "zoo/small", "hi"], "Option '--api-key' requires a value"),
        (["--model", "zoo/small", "-p", "hi"], "No API key found for zoo. Set ZOO_API_KEY."),
    ],
)
def test_a_key_that_is_missing_or_has_no_model_is_an_error(zoo, arguments, message):
    done = zoo.run(*arguments)

    assert done.returncode == 1
    assert message in done.stderr
    assert "sk-1" not in done.stderr


def test_a_broken_models_file_is_reported_when_no_model_can_be_chosen(zoo):
    (zoo.agent_dir / "models.json").write_text("{\n")
    done = zoo.run("-p", "hi")

    assert done.returncode == 1
    assert "models.json, line 2: this is not JSON" in done.stderr
    assert "No API key found" in done.stderr
