"""The API's own words stay first and unchanged; the advice behind them changes nothing for the retry rules."""

from __future__ import annotations

import re

import pytest

from pi_hookspecs import RequestFailed
from pi_provider_kit import HttpFailed, explain, explained
from pi_provider_kit._explain import _BY_KIND, _BY_STATUS

STATUSES = (400, 401, 402, 403, 404, 408, 413, 429, 500, 502, 503, 504, 529)
KINDS = sorted({*_BY_KIND, "dropped", "status"})

# pi.md section 9 (retryable, never retryable) and 4.8 (overflow), as far as a sentence might hold them.
PATTERNS = re.compile(
    r"overloaded|rate.?limit|too many requests|429|50[0-4]|service.?unavailable|server error|internal error"
    r"|connection.?error|connection.?refused|other side closed|fetch failed|upstream.?connect|reset before headers"
    r"|terminated|retry delay|quota|billing|usage limit|please retry|capacity|busy|timeout|socket|websocket"
    r"|too long|context window|context length|context size|too many tokens|token limit|\(no body\)",
    re.IGNORECASE,
)


@pytest.mark.parametrize("status", STATUSES)
def test_advice_on_a_status_keeps_out_of_the_patterns(model, status):
    for wait in (None, 7200):
        advice = explain(RequestFailed("words", status=status, retry_after_ms=wait), model)

        assert not PATTERNS.search(advice), advice


@pytest.mark.parametrize("kind", KINDS)
def test_advice_on_a_kind_keeps_out_of_the_patterns(model, kind):
    advice = explain(HttpFailed("words", kind=kind), model)
    if kind in ("timeout", "stalled"):  # those are tried again anyway
        advice = advice.replace("httpIdleTimeoutMs", "")

    assert not PATTERNS.search(advice), advice


@pytest.mark.parametrize("status", [status for status in STATUSES if status != 400])
def test_every_common_status_has_advice(model, status):
    assert explain(RequestFailed("words", status=status), model)


def test_no_template_is_left_unfilled(model):
    for template in (*_BY_STATUS.values(), *_BY_KIND.values()):
        assert set(re.findall(r"{(\w+)", template)) <= {"provider", "model", "base_url", "wait", "wait_lower"}


def test_the_raw_text_comes_first(model):
    failure = RequestFailed('429 {"error":"slow down"}', status=429, retry_after_ms=6500)

    assert explained(failure, model) == ('429 {"error":"slow down"} Wait 7 s, or choose another model with --model.')
    assert explained(RequestFailed("503 down", status=503), model) == (
        "503 down. The provider has trouble: wait a moment, or choose another model with --model."
    )


def test_a_bad_request_speaks_for_itself(model):
    assert explained(RequestFailed("400 {}", status=400), model) == "400 {}"


def test_a_cut_answer_needs_no_advice_on_its_status(model):
    assert explained(HttpFailed("terminated: cut", kind="dropped", status=200), model) == "terminated: cut"
