"""What a person reads of a failed request: the sentence in the server's answer, and what to do."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pi_core import error_text
from pi_testing import for_each

ADVICE = "Wait a moment, or choose another model."


@for_each(
    ("raw", "words"),
    [
        # Anthropic, Completions, Responses, Mistral, Google, Bedrock as their codecs word them
        ('429 {"type":"error","error":{"type":"rate_limit_error","message":"Slow down."}}', "Slow down."),
        ('400: {"error":{"message":"Too long","type":"invalid_request_error","code":null}}', "Too long"),
        ('openai API error (429): {"error":{"message":"Quota","code":"insufficient_quota"}}', "Quota"),
        ('Mistral API error (422): {"object":"error","message":"Extra inputs","type":"x"}', "Extra inputs"),
        ('Mistral API error (401): {"detail":"Unauthorized"}', "Unauthorized"),
        ('{"error":{"code":503,"message":"Overloaded.","status":"UNAVAILABLE"}}', "Overloaded."),
        ('413 {"error":{"code":413,"message":"Too large."}}', "Too large."),
        ("403 AccessDeniedException: No access.", "403 AccessDeniedException: No access."),
        # other hosts
        ('500: {"error":"Something broke"}', "Something broke"),
        ('422: {"detail":[{"loc":["body","model"],"msg":"field required"}]}', "field required"),
        ('400: {"errors":[{"message":"No such model"}]}', "No such model"),
        ('404: {"title":"Not found","status":404}', "Not found"),
        ('503: [{"error":{"message":"Loading model"}}]', "Loading model"),
        ('502: {"error":{"message":"{\\"error\\":{\\"message\\":\\"Upstream is down\\"}}"}}', "Upstream is down"),
        ('400: {"error":{"message":"First.\\nSecond."}}', "First.\nSecond."),
        # what has more in it than a status
        ('200 The server sent no events: {"error":{"message":"Oops"}}', "200 The server sent no events: Oops"),
        ('Summarization failed: 529 {"error":{"message":"Overloaded"}}', "Summarization failed: Overloaded"),
        ('a: openai API error (400): {"error":{"message":"No"}}', "a: No"),
        ("Connection error. Nothing answers", "Connection error. Nothing answers"),
        # what says nothing
        ('500 {"error":{"code":500}}', '500 {"error":{"code":500}}'),
        ('500 {"error":{"message":""}}', '500 {"error":{"message":""}}'),
        ('500 {"error":{"mess... (96000 more characters)', '500 {"error":{"mess... (96000 more characters)'),
        ("401 Incorrect key: [secret]", "401 Incorrect key: [secret]"),
        ('401 [secret] is wrong: {"message":"Look at it"}', "401 [secret] is wrong: Look at it"),
        ("", ""),
    ],
)
def test_the_sentence_of_the_server_comes_first(raw, words):
    text = error_text(f"{raw}\n{ADVICE}")

    assert (text.words, text.advice, text.raw) == (words, ADVICE, raw)
    assert text.is_shortened is (words != raw)


@pytest.mark.parametrize(
    ("message", "sentences"),
    [
        ("terminated: cut\nSend the prompt again.", "terminated: cut. Send the prompt again."),
        ('529 {"message":"Overloaded."}\nWait.', "Overloaded. Wait."),
        ("400 the request\nis wrong", "400 the request is wrong"),
        ("400 alone", "400 alone"),
    ],
)
def test_words_and_advice_make_sentences(message, sentences):
    assert error_text(message).sentences == sentences


def test_a_message_without_advice_has_none():
    assert error_text("400 the request is wrong").advice == ""


def test_a_reply_that_is_too_long_is_truncated():
    text = error_text(json.dumps({"error": {"message": "x" * 5000}}))

    assert len(text.words) < 700
    assert text.is_shortened


def test_a_body_that_is_nested_too_deeply_is_shown_as_it_is():
    raw = "400 " + '{"error":' * 20_000

    assert error_text(raw).words.startswith('400 {"error":{"error":')


@given(st.text() | st.recursive(st.text() | st.none() | st.integers(), st.lists).map(json.dumps))
def test_any_message_can_be_shown(message):
    text = error_text(message)

    assert text.raw == message.partition("\n")[0]
    assert bool(text.words) is bool(text.raw)
