"""`load_models` reads the format of models.json, and reports errors with file and line."""

from __future__ import annotations

import json
import sys
from textwrap import dedent

import pytest

from pi_hookspecs import ModelCost, PriceTier, UserError, load_models
from pi_hookspecs.model_json import line_of, repeated_keys

ACME = """\
{
  "providers": {
    "acme": {
      "name": "Acme",
      "baseUrl": "https://acme.test/v1",
      "api": "openai-completions",
      "apiKey": "$ACME_KEY",
      "keyVariables": ["ACME_OLD_KEY"],
      "defaultModel": "big",
      "headers": {"x-acme": "1"},
      "compat": {"supportsStore": false, "maxTokensField": "max_tokens"},
      "models": [
        {"id": "big", "name": "Big", "api": "anthropic-messages", "baseUrl": "https://acme.test", "reasoning": true,
         "input": ["text", "image"], "contextWindow": 1e6, "maxTokens": 64000,
         "cost": {"input": 3, "output": 15, "cacheRead": 0.3, "cacheWrite": 3.75,
                  "tiers": [{"inputTokensAbove": 200000, "input": 6, "output": 22.5}]},
         "headers": {"x-big": "2"}, "compat": {"supportsStore": true},
         "thinkingLevelMap": {"off": null, "xhigh": "xhigh"}, "samplingParams": {"topP": 1}},
        {"id": "small"}
      ]
    }
  }
}
"""


@pytest.fixture
def write(tmp_path):
    def write_file(text, name="acme.json"):
        (tmp_path / name).write_text(text if isinstance(text, str) else json.dumps(text), encoding="utf-8")
        return tmp_path

    return write_file


def test_a_provider_has_all_that_the_file_says(write):
    (info,) = load_models(write(ACME), "acme.json")

    assert (info.id, info.name, info.api, info.base_url) == (
        "acme",
        "Acme",
        "openai-completions",
        "https://acme.test/v1",
    )
    assert (info.key_variables, info.keyless, info.default_model) == (("ACME_KEY", "ACME_OLD_KEY"), False, "big")
    assert (info.headers, info.compat) == (
        {"x-acme": "1"},
        {"supportsStore": False, "maxTokensField": "max_tokens"},
    )


def test_a_model_has_its_own_values_before_its_providers(write):
    (info,) = load_models(write(ACME), "acme.json")
    big = info.model("big")

    assert (big.reference, big.name, big.api, big.base_url) == (
        "acme/big",
        "Big",
        "anthropic-messages",
        "https://acme.test",
    )
    assert (big.reasoning, big.input, big.context_window, big.max_tokens) == (
        True,
        ("text", "image"),
        1_000_000,
        64_000,
    )
    assert big.headers == {"x-acme": "1", "x-big": "2"}
    assert big.compat == {"supportsStore": True, "maxTokensField": "max_tokens"}
    assert big.thinking_level_map == {"off": None, "xhigh": "xhigh"}
    assert big.extra == {"samplingParams": {"topP": 1}}


def test_a_tier_keeps_the_rates_that_it_does_not_name(write):
    (info,) = load_models(write(ACME), "acme.json")
    tier = PriceTier(input_tokens_above=200_000, input=6, output=22.5, cache_read=0.3, cache_write=3.75)

    assert info.model("big").cost == ModelCost(input=3, output=15, cache_read=0.3, cache_write=3.75, tiers=(tier,))


def test_a_model_may_be_an_id_and_nothing_else(write):
    (info,) = load_models(write(ACME), "acme.json")
    small = info.model("small")

    assert (small.name, small.api, small.base_url) == ("small", "openai-completions", "https://acme.test/v1")
    assert (small.reasoning, small.input, small.cost) == (False, ("text",), ModelCost())
    assert (small.context_window, small.max_tokens, small.thinking_level_map) == (128_000, 16_384, None)


def test_the_file_is_found_in_a_package(tmp_path, monkeypatch):
    package = tmp_path / "acme_models_here"
    (package / "data").mkdir(parents=True)
    (package / "__init__.py").touch()
    (package / "data" / "acme.json").write_text(ACME)
    monkeypatch.syspath_prepend(tmp_path)

    (info,) = load_models("acme_models_here", "data/acme.json")

    assert info.model("small") is not None
    sys.modules.pop("acme_models_here")


def test_models_in_another_file_are_read_when_asked_for(write):
    folder = write(ACME, "acme-models.json")
    index = {"providers": {"acme": {"api": "openai-completions", "baseUrl": "", "models": "acme-models.json"}}}
    (info,) = load_models(write(index, "index.json"), "index.json")
    again = load_models(folder, "index.json")
    (folder / "acme-models.json").write_text(ACME.replace('"small"', '"tiny"'))

    assert again == [info]
    assert info.model("tiny") is not None


WRONG = [
    ("[1]", 1, 'this must be an object {"providers": {ID: {...}}}'),
    ('{"providers": 1}', 1, "this must be an object"),
    (ACME.replace('"name": "Acme",', '"name": "Acme"'), 5, "this is not JSON: Expecting ',' delimiter"),
    (ACME.replace('"name": "Acme"', '"name": 7'), 4, "name is 7; it must be a string"),
    (ACME.replace('"api": "openai-completions",', ""), 19, "model 'small' has no api, and neither has provider 'acme'"),
    (ACME.replace('"baseUrl": "https://acme.test/v1",', ""), 19, "model 'small' has no baseUrl"),
    (ACME.replace('{"id": "small"}', '{"name": "x"}'), 19, "a model needs an id"),
    (ACME.replace('{"id": "small"}', '"small"'), 19, "a model is 'small'; it must be an object"),
    (ACME.replace('["ACME_OLD_KEY"]', "[1]"), 8, "1 is not a valid name of an environment variable"),
    (ACME.replace('"x-acme": "1"', '"x-acme": 1'), 10, "the header 'x-acme' must be a string"),
    (ACME.replace('"image"]', '"smell"]'), 14, "'smell' is not a kind of input"),
    (ACME.replace("64000", "-1"), 14, "maxTokens is -1; it must be a number of tokens above 0"),
    (ACME.replace("64000", "true"), 14, "maxTokens is True"),
    (ACME.replace("1e6", "NaN"), 14, "contextWindow is nan"),
    (ACME.replace("3.75", "-3.75"), 15, "cacheWrite is -3.75; it must be US dollars per million tokens"),
    (ACME.replace("22.5", '"22.5"'), 16, "output is '22.5'"),
    (ACME.replace('"xhigh": "xhigh"', '"huge": "x"'), 18, "'huge' is not a thinking level; use one of off, minimal"),
    (ACME.replace('"xhigh": "xhigh"', '"xhigh": 3'), 18, "xhigh is 3; it must be a string or null"),
    (ACME.replace('{"id": "small"}', '{"id": "x", "retirement": {"date": 7}}'), 19, "date is 7; it must be a date"),
    (ACME.replace('"name": "Acme"', '"retirements": {"x": {}}'), 4, "date is None; it must be a date"),
    (ACME.replace('"acme": {', '"none": {},\n"acme": {'), 3, "provider 'none' has no api"),
]


@pytest.mark.parametrize(("text", "line", "message"), WRONG, ids=[message for _, _, message in WRONG])
def test_what_cannot_be_used_is_reported_with_file_and_line(write, text, line, message):
    folder = write(text)

    with pytest.raises(UserError) as failure:
        load_models(folder, "acme.json")

    assert str(failure.value).startswith(f"{folder / 'acme.json'}, line {line}: ")
    assert message in str(failure.value)


def test_a_key_in_the_file_is_refused_and_not_shown(write):
    with pytest.raises(UserError, match="line 7: apiKey must be the name of an environment variable") as failure:
        load_models(write(ACME.replace("$ACME_KEY", "sk-secret")), "acme.json")

    assert "sk-secret" not in str(failure.value)


def test_a_missing_file_is_reported(tmp_path):
    with pytest.raises(UserError, match=r"Cannot read .*nothing\.json: No such file"):
        load_models(tmp_path, "nothing.json")


def test_bytes_that_are_not_text_are_reported(tmp_path):
    (tmp_path / "acme.json").write_bytes(b'{"providers": "\xff"}')

    with pytest.raises(UserError, match=r"acme\.json: this is not UTF-8 text"):
        load_models(tmp_path, "acme.json")


def test_what_is_wrong_in_the_other_file_is_reported_with_its_name(write):
    folder = write({"providers": {"acme": {"api": "a", "models": "other.json"}}})
    (info,) = load_models(folder, "acme.json")

    for text, message in [
        ('{"providers":\n{}}', r"other\.json, line 1: provider 'acme' is missing"),
        ('{"providers":\n{"acme":\n{"models": 3}}}', r"other\.json, line 3: models is 3; it must be a list"),
    ]:
        write(text, "other.json")
        with pytest.raises(UserError, match=message):
            info.models  # noqa: B018 - looking is the test


def test_a_plugin_of_one_file_is_refused_with_the_folder_to_pass():
    with pytest.raises(UserError, match=r"load_models\(Path\(__file__\)\.parent, 'acme\.json'\)"):
        load_models("", "acme.json")


def test_a_line_is_found_by_keys_and_indexes():
    text = dedent(
        """\
        {
          "a": [1, {"b": "}]"},
            {"b": 2,
             "c\\"": [
               3]}],
          "d": {}
        }
        """
    )

    lines = [line_of(text, path) for path in [(), ("a",), ("a", 2, "b"), ("a", 2, 'c"', 0), ("d",), ("a", 9), ("e",)]]

    assert lines == [1, 2, 3, 5, 6, 2, 1]


def test_of_a_duplicate_key_the_last_counts_and_both_are_found():
    text = '{"x": {\n"a": 1,\n"b": {"a": 2},\n"a": {\n"c": 3},\n"b": 0, "d": []}}'

    assert [line_of(text, ("x", "a")), line_of(text, ("x", "a", "c")), line_of(text, ("x", "b"))] == [4, 5, 6]
    assert repeated_keys(text, ("x",)) == [("a", 4), ("b", 6)]
    assert repeated_keys(text, ()) == repeated_keys(text, ("x", "d")) == repeated_keys(text, ("y",)) == []
