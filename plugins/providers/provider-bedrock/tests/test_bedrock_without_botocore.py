"""Without botocore, which is an extra: a token still works, and AWS's credentials say what to install."""

from __future__ import annotations

import sys

import pytest

from pi_hookspecs import MissingKey
from pi_provider_bedrock.credential_source import AUTHENTICATED, AwsCredentials
from pi_testing.fake_servers.bedrock import message, text

TOKEN = "bedrock-api-key-secret-0123456789"


@pytest.fixture(autouse=True)
def _no_botocore(monkeypatch):
    for name in [*(name for name in sys.modules if name.partition(".")[0] == "botocore"), "botocore"]:
        monkeypatch.setitem(sys.modules, name, None)


async def test_a_request_with_a_token_needs_none(ask, server):
    server.answers(message(text("ok")))

    assert (await ask(api_key=TOKEN)).message.text == "ok"


async def test_credentials_do_not_make_a_model_usable(aws):
    aws(key=True)

    assert AwsCredentials().available("amazon-bedrock") is False


async def test_the_missing_key_names_what_to_install(aws):
    aws(key=True)
    with pytest.raises(MissingKey) as caught:
        await AwsCredentials().credential("amazon-bedrock")

    assert str(caught.value).startswith(
        "No API key found for amazon-bedrock, and AWS credentials cannot be used. They "
    )
    assert "'pluggypi[bedrock]'" in str(caught.value)


async def test_a_request_that_has_to_be_signed_names_what_to_install(ask, aws):
    aws(key=True, region="eu-west-1")
    reply = await ask(api_key=AUTHENTICATED)

    assert reply.error.startswith("AWS credentials cannot be used")
    assert "'pluggypi[bedrock]'" in reply.error
