"""What logins are built from, one piece at a time: secrets, pasted codes, web tokens, addresses."""

from __future__ import annotations

import base64
import hashlib
import importlib
import json
import re
import subprocess
import sys
from pathlib import Path
from urllib.parse import urlencode

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pi_hookspecs import UserError
from pi_provider_kit import oauth
from pi_provider_kit.oauth import Pkce, callback_port, endpoint, jwt_payload, new_state, pasted_code
from pi_testing import for_each

WORDS = st.text(st.characters(codec="ascii", categories=["L", "N"], include_characters="-_/.~"), min_size=1)


def test_what_a_type_checker_sees_is_what_there_is():
    seen = set()
    for module in oauth._HOMES:
        seen |= set(importlib.import_module(f"pi_provider_kit.oauth.{module}").__all__)
    source = Path(oauth.__file__).read_text(encoding="utf-8")

    assert seen == set(oauth.__all__)
    assert set(re.findall(r"from pi_provider_kit\.oauth\.(\w+) import \*", source)) == set(oauth._HOMES)
    assert set(dir(oauth)) >= seen


def test_importing_it_imports_nothing_heavy():
    code = """
import sys, pi_provider_kit.oauth
print(*[name for name in ("httpx", "asyncio", "attrs", "html", "secrets") if name in sys.modules])
"""
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)

    assert done.stdout.split() == []


def test_the_challenge_is_the_verifier_s_hash_and_the_verifier_32_bytes():
    pkce = Pkce.new()

    digest = hashlib.sha256(pkce.verifier.encode()).digest()
    assert base64.urlsafe_b64decode(pkce.challenge + "=") == digest
    assert len(base64.urlsafe_b64decode(pkce.verifier + "=")) == 32
    assert "=" not in pkce.verifier + pkce.challenge
    assert pkce.verifier not in repr(pkce)
    assert pkce != Pkce.new()


@given(code=WORDS, state=WORDS)
def test_a_code_is_found_in_every_form_it_is_pasted_in(code, state):
    query = urlencode({"code": code, "state": state})
    addresses = [f"http://localhost:1/back?{query}", f"https://a.test/?x=1&{query}#end", f"https://a.test/#{query}"]
    forms = [code, f"{code}#{state}", query, f"state={state}&code={code}", *addresses]

    assert {pasted_code(f"  {form}\n", state, provider="acme") for form in forms} == {code}


@given(text=st.text())
def test_whatever_is_pasted_is_a_code_or_a_plain_refusal(text):
    try:
        code = pasted_code(text, "state-of-ours", provider="acme")
    except UserError as error:
        code = None
        output = str(error)

    assert "\n" not in (output if code is None else code)
    assert code != ""


@pytest.mark.parametrize(
    "form", ["code#other", "http://localhost/callback?code=code&state=other", "code=c&state=other"]
)
def test_a_code_of_another_login_is_refused_and_not_repeated(form):
    with pytest.raises(UserError, match=r"belongs to another login.*pi auth login acme") as caught:
        pasted_code(form, "state-of-ours", provider="acme")

    assert "code=" not in str(caught.value)


def test_a_bare_code_may_look_like_base64():
    assert pasted_code("YWJj==", "s", provider="acme") == "YWJj=="


def test_an_address_with_denied_consent_is_reported_as_denied():
    with pytest.raises(UserError, match=r"Consent was denied in the browser \(access_denied: no\)"):
        pasted_code("http://localhost/?error=access_denied&error_description=no", new_state(), provider="acme")


def repr_of(text):
    return repr(text[:30])


@for_each(
    "text",
    [
        *("", "   ", "two words", "https://a.test/callback", "https://a.test/?state=s", "state=s", "#s"),
        *("nul\x00", "code=%1b[2J", "caf\u00e9", "a" * 10_000, f"https://a.test/?code={'a' * 10_000}"),
    ],
)
def test_a_paste_without_a_code_is_reported(text):
    with pytest.raises(UserError, match="no code in what was pasted"):
        pasted_code(text, "s", provider="acme")


@given(claims=st.dictionaries(st.text(), st.integers() | st.text()))
def test_the_claims_of_a_web_token_are_read(claims):
    body = base64.urlsafe_b64encode(json.dumps(claims).encode()).rstrip(b"=").decode()

    assert jwt_payload(f"head.{body}.signature") == claims


@for_each("token", ["", "opaque", "a.b", "a.!.c", "a.W10.c", "a.gA.c"])
def test_a_token_of_another_kind_is_refused_and_not_repeated(token):
    with pytest.raises(ValueError, match=r"^not a JSON web token$"):
        jwt_payload(token)


def test_a_gateway_replaces_the_host(monkeypatch):
    monkeypatch.setenv("PI_OAUTH_URL_ACME_CLOUD", "https://gate.test/acme/")

    assert endpoint("acme-cloud", "https://login.acme.test/oauth/token") == "https://gate.test/acme/oauth/token"
    assert endpoint("other", "https://login.acme.test/oauth/token") == "https://login.acme.test/oauth/token"


@pytest.mark.parametrize(
    "url", ["http://gate.test", "gate.test", "ftp://gate.test", "https://u:p@gate.test", "https://[", "https://h:x"]
)
def test_a_gateway_to_which_tokens_would_go_in_the_clear_is_refused(monkeypatch, url):
    monkeypatch.setenv("PI_OAUTH_URL_ACME", url)

    with pytest.raises(UserError, match="PI_OAUTH_URL_ACME must be an https URL"):
        endpoint("acme", "https://login.acme.test/oauth/token")


def test_the_port_of_the_callback_can_be_moved(monkeypatch):
    usual = callback_port("acme", 1455)
    monkeypatch.setenv("PI_OAUTH_PORT_ACME", "8123")

    assert (usual, callback_port("acme", 1455)) == (1455, 8123)


@pytest.mark.parametrize("port", ["x", "-1", "65536", "1.5", "²", "9" * 5000], ids=repr_of)
def test_a_port_that_is_none_is_named(monkeypatch, port):
    monkeypatch.setenv("PI_OAUTH_PORT_ACME", port)

    with pytest.raises(UserError, match="PI_OAUTH_PORT_ACME must be a port"):
        callback_port("acme", 1455)
