"""What pi does with the answer of a server: the rows of docs/reference/failures.md, and properties of the table."""

from __future__ import annotations

import tomllib
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from pi_hookspecs import Model
from pi_hookspecs.failures import ACTIONS, FAILURE_RULES, kind_of_failure
from pi_provider_kit import AnswerBuilder, answer_failure, retry_after_ms
from pi_retry.kinds import kind_of
from pi_testing import for_each

NOW = 1_767_225_600.0
ANSWERS = tomllib.loads((Path(__file__).parent / "answers.toml").read_text(encoding="utf-8"))["answer"]
TEMPORARY = (408, 409, 425, 429)
TEMPORARY_WORDS = (
    "overloaded|please try again|rate limit|timeout|server error|ECONNRESET|503|429|500|try again in 5s|busy"
    "|unavailable|connection reset|internal error|too many requests|terminated|dns|upstream connect error|capacity"
)
WORDS = st.sampled_from(TEMPORARY_WORDS.split("|"))


@for_each(
    ("host", "status", "headers", "body", "does", "after"),
    [
        (each["host"], each["status"], each.get("headers", {}), each["body"], each["does"], each.get("after"))
        for each in ANSWERS
    ],
)
def test_each_answer_of_the_page_has_its_action(host, status, headers, body, does, after):
    wait = retry_after_ms(headers, body, status, NOW)
    kind = kind_of_failure(f"{status} {body}", status, (host,), hinted=wait is not None)

    assert ACTIONS[kind] == does
    assert wait == (None if after is None else after * 1000)


@for_each(
    ("host", "status", "body", "does"),
    [(each["host"], each["status"], each["body"], each["does"]) for each in ANSWERS if each["status"] >= 400],
)
def test_a_provider_s_message_is_of_the_same_kind_as_the_answer(host, status, body, does):
    model = Model(id="m", name="M", api="a", provider="acme", base_url=f"https://{host}/v1")
    message = AnswerBuilder(model).end_for(answer_failure(status, {}, body.encode())).error
    kind = kind_of(message, None, host)

    assert (kind in ("throttle", "overload", "transient")) is (does == "wait")
    assert (kind == "overflow") is (does == "compact")


@given(st.integers(400, 499).filter(lambda status: status not in TEMPORARY), st.lists(WORDS, min_size=1, max_size=4))
def test_no_words_make_a_refusal_temporary(status, words):
    text = f'{status} {{"error":{{"message":"{" ".join(words)}"}},"request_id":"req-503-429"}}'

    assert ACTIONS[kind_of_failure(text, status, ("api.example.com", "example"))] != "wait"


@given(st.sampled_from((*TEMPORARY, *range(502, 505), 520, 529)), st.text(max_size=80))
def test_an_unspecific_text_never_ends_what_a_status_calls_temporary(status, text):
    kind = kind_of_failure(f"{status} {text}", status)

    assert ACTIONS[kind] == "wait" or kind in ("overflow", "quota")


@for_each(
    "text",
    [
        "ResourceNotFoundException",
        "deconnrefusal",
        "dnsmasq is configured",
        "predetermined",
    ],
)
def test_parts_of_words_are_no_reason_to_wait(text):
    assert kind_of_failure(f"the answer says {text}") in ("other", "model")


def test_each_rule_names_its_source():
    assert all(rule.source and rule.kind in ACTIONS for rule in FAILURE_RULES)


def test_only_a_rule_with_status_and_words_makes_another_4xx_temporary():
    for rule in FAILURE_RULES:
        others = {status for status in rule.statuses if status is not None and 400 <= status < 500} - {*TEMPORARY}
        if ACTIONS[rule.kind] == "wait" and others:
            assert rule.words, rule
            assert rule.places or "any host" in rule.source, rule
