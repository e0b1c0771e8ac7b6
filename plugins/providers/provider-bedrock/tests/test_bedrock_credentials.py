"""AWS's credentials: each way to get them signs a request, and each way they fail says what to do."""

from __future__ import annotations

import asyncio
import hashlib
import json
import sys

import pytest

from pi_hookspecs import AbortController, MissingKey
from pi_provider_bedrock import credential_source
from pi_provider_bedrock import credentials as _credentials
from pi_provider_bedrock.credential_source import AUTHENTICATED, AwsCredentials
from pi_testing.fake_servers import Answer, FakeServer, json_answer
from pi_testing.fake_servers.bedrock import message, text

pytest.importorskip("botocore")

KEY_ID = "AKIAFAKE000000000000"
SECRET = "secret/key+of+forty+characters/0123456789"
KEYS = f"aws_access_key_id = {KEY_ID}\naws_secret_access_key = {SECRET}\n"
START = "https://example.awsapps.test/start"
SSO = f"sso_start_url = {START}\nsso_region = us-east-1\nsso_account_id = 123456789012\nsso_role_name = dev\n"
FAR = "2099-01-01T00:00:00Z"


@pytest.fixture
def sign(ask, server):
    """Ask without a token; return the reply."""

    async def sign(**options):
        server.answers(message(text("ok")))
        return await ask(api_key=AUTHENTICATED, **options)

    return sign


@pytest.fixture
async def cloud():
    async with FakeServer() as cloud:
        yield cloud


def process(folder, code):
    """Return a ``credential_process`` that runs Python."""
    script = folder / "process.py"
    script.write_text(code, encoding="utf-8")
    return f"credential_process = {sys.executable} '{script}'\n"


def signed_by(server):
    return server.request.headers["authorization"].partition("Credential=")[2].partition("/")[0]


# Ways that lead to credentials


async def test_keys_of_the_environment_sign(sign, server, aws):
    aws(key=True, region="eu-west-1", AWS_SESSION_TOKEN="session-token-0123456789")
    reply = await sign()

    assert reply.message.text == "ok"
    assert signed_by(server) == KEY_ID
    assert "/eu-west-1/bedrock/aws4_request" in server.request.headers["authorization"]
    assert server.request.headers["x-amz-security-token"] == "session-token-0123456789"


async def test_the_default_profile_signs(sign, server, aws):
    aws(credentials=f"[default]\n{KEYS}", config="[default]\nregion = ap-south-1\n")
    reply = await sign()

    assert reply.message.text == "ok"
    assert "/ap-south-1/bedrock/" in server.request.headers["authorization"]


async def test_a_named_profile_signs(sign, server, aws):
    aws(config=f"[profile work]\n{KEYS}region = eu-west-3\n", AWS_PROFILE="work")
    reply = await sign()

    assert reply.message.text == "ok"
    assert "/eu-west-3/bedrock/" in server.request.headers["authorization"]


async def test_a_credential_process_signs(sign, aws, tmp_path):
    credentials = {
        "Version": 1,
        "AccessKeyId": KEY_ID,
        "SecretAccessKey": SECRET,
        "SessionToken": "t",
        "Expiration": FAR,
    }
    aws(config=f"[profile p]\n{process(tmp_path, f'print({json.dumps(credentials)!r})')}", AWS_PROFILE="p")

    assert (await sign()).message.text == "ok"


async def test_a_container_signs(sign, aws, cloud):
    cloud.answers(json_answer(200, {"AccessKeyId": KEY_ID, "SecretAccessKey": SECRET, "Token": "t", "Expiration": FAR}))
    aws(AWS_CONTAINER_CREDENTIALS_FULL_URI=f"{cloud.url}/get", AWS_CONTAINER_AUTHORIZATION_TOKEN="container")

    assert (await sign()).message.text == "ok"
    assert cloud.request.headers["authorization"] == "container"


async def test_a_web_identity_signs(sign, aws, cloud, tmp_path):
    (tmp_path / "token").write_text("web-identity", encoding="utf-8")
    xml = (
        '<AssumeRoleWithWebIdentityResponse xmlns="https://sts.amazonaws.com/doc/2011-06-15/">'
        "<AssumeRoleWithWebIdentityResult><Credentials>"
        f"<AccessKeyId>{KEY_ID}</AccessKeyId><SecretAccessKey>{SECRET}</SecretAccessKey>"
        f"<SessionToken>t</SessionToken><Expiration>{FAR}</Expiration>"
        "</Credentials></AssumeRoleWithWebIdentityResult></AssumeRoleWithWebIdentityResponse>"
    )
    cloud.answers(Answer(headers={"content-type": "text/xml"}, pieces=(xml.encode(),)))
    aws(
        region="us-east-1",
        AWS_WEB_IDENTITY_TOKEN_FILE=str(tmp_path / "token"),
        AWS_ROLE_ARN="arn:aws:iam::123456789012:role/dev",
        AWS_ENDPOINT_URL_STS=cloud.url,
        AWS_DEFAULT_REGION="us-east-1",
    )

    assert (await sign()).message.text == "ok"


async def test_the_role_of_an_instance_signs(sign, aws, cloud):
    role = {"Code": "Success", "AccessKeyId": KEY_ID, "SecretAccessKey": SECRET, "Token": "t", "Expiration": FAR}
    plain = Answer(pieces=(b"session",)), Answer(pieces=(b"role",))
    cloud.answers(*plain, json_answer(200, role))
    aws(AWS_EC2_METADATA_SERVICE_ENDPOINT=cloud.url, AWS_EC2_METADATA_DISABLED="false")

    assert (await sign()).message.text == "ok"


async def test_a_token_of_the_environment_is_sent_as_it_is(sign, server, aws):
    aws(key=True, AWS_BEARER_TOKEN_BEDROCK="token-of-the-environment")
    await sign()

    assert server.request.headers["authorization"] == "Bearer token-of-the-environment"


async def test_a_gateway_s_own_authorization_is_not_replaced(ask, server):
    server.answers(message(text("ok")))
    reply = await ask(api_key=None, headers={"Authorization": "Bearer of the gateway"})

    assert reply.message.text == "ok"
    assert server.request.headers["authorization"] == "Bearer of the gateway"


# Kept, refreshed, renewed


async def test_credentials_are_found_once(sign, aws, tmp_path):
    credentials = {"Version": 1, "AccessKeyId": KEY_ID, "SecretAccessKey": SECRET}
    log = tmp_path / "log"
    code = f"open({str(log)!r}, 'a').write('x')\nprint({json.dumps(credentials)!r})"
    aws(config=f"[profile p]\n{process(tmp_path, code)}", AWS_PROFILE="p")
    await sign()
    await sign()

    assert log.read_text() == "x"


async def test_another_profile_counts_at_once(sign, server, aws):
    aws(config=f"[profile a]\n{KEYS}\n[profile b]\n{KEYS.replace(KEY_ID, 'AKIAOTHER')}", AWS_PROFILE="a")
    await sign()
    aws(AWS_PROFILE="b")
    await sign()

    assert signed_by(server) == "AKIAOTHER"


async def test_refused_credentials_are_read_again(sign, server, aws):
    aws(credentials=f"[default]\n{KEYS.replace(SECRET, 'old')}")
    refused = await sign()
    aws(credentials=f"[default]\n{KEYS}")
    reply = await sign()

    assert "InvalidSignatureException" in refused.error
    assert reply.message.text == "ok"


# The event loop


async def test_the_loop_runs_while_a_command_is_waited_for(sign, aws, tmp_path):
    credentials = {"Version": 1, "AccessKeyId": KEY_ID, "SecretAccessKey": SECRET}
    go = tmp_path / "go"
    code = (
        f"import os, time\nwhile not os.path.exists({str(go)!r}): time.sleep(0.01)\nprint({json.dumps(credentials)!r})"
    )
    aws(config=f"[profile p]\n{process(tmp_path, code)}", AWS_PROFILE="p")
    asking = asyncio.create_task(sign())
    await asyncio.sleep(0.05)
    go.touch()  # a blocked loop would never get here

    assert (await asking).message.text == "ok"


async def test_an_abort_ends_the_wait_for_credentials(sign, aws, tmp_path):
    go = tmp_path / "go"
    code = f"import os, time\nwhile not os.path.exists({str(go)!r}): time.sleep(0.01)"
    aws(config=f"[profile p]\n{process(tmp_path, code)}", AWS_PROFILE="p")
    controller = AbortController()
    asking = asyncio.create_task(sign(signal=controller.signal))
    await asyncio.sleep(0.05)
    controller.abort()
    reply = await asking
    go.touch()

    assert reply.message.stop_reason == "aborted"


async def test_a_command_that_never_ends_is_not_waited_for(sign, aws, tmp_path, monkeypatch):
    go = tmp_path / "go"
    code = f"import os, time\nwhile not os.path.exists({str(go)!r}): time.sleep(0.01)"
    aws(config=f"[profile p]\n{process(tmp_path, code)}", AWS_PROFILE="p")
    monkeypatch.setattr(_credentials, "SECONDS", 0.2)
    reply = await sign()
    go.touch()

    assert "were not found within 0.2 s" in reply.error
    assert "credential_process" in reply.error


# What goes wrong


async def test_no_credentials_names_every_way(sign):
    reply = await sign()

    assert reply.error.startswith("No AWS credentials were found\n")
    for way in ("AWS_PROFILE", "aws configure sso", "AWS_ACCESS_KEY_ID", "AWS_BEARER_TOKEN_BEDROCK"):
        assert way in reply.error


async def test_a_profile_that_does_not_exist_names_those_that_do(sign, aws):
    aws(config=f"[profile work]\n{KEYS}[profile home]\n{KEYS}", AWS_PROFILE="wrok")
    reply = await sign()

    assert reply.error == (
        "The AWS profile 'wrok' does not exist\nSet AWS_PROFILE to one of 'home', 'work', or create it with "
        "`aws configure sso --profile wrok`."
    )


async def test_half_a_pair_of_keys_names_the_other_half(sign, aws):
    aws(AWS_ACCESS_KEY_ID=KEY_ID)
    reply = await sign()

    assert "AWS_SECRET_ACCESS_KEY" in reply.error


@pytest.mark.parametrize("cached", [None, "2020-01-01T00:00:00Z"], ids=["never", "expired"])
async def test_a_login_that_is_needed_names_its_command(sign, aws, monkeypatch, tmp_path, cached):
    monkeypatch.setenv("HOME", str(tmp_path))
    if cached:
        cache = tmp_path / ".aws" / "sso" / "cache"
        cache.mkdir(parents=True)
        token = {"startUrl": START, "region": "us-east-1", "accessToken": "sso-token-0123", "expiresAt": cached}
        name = hashlib.sha1(START.encode(), usedforsecurity=False).hexdigest()
        (cache / f"{name}.json").write_text(json.dumps(token), encoding="utf-8")
    aws(config=f"[profile work]\n{SSO}", AWS_PROFILE="work")
    reply = await sign()

    assert "`aws sso login --profile work`" in reply.error
    assert "sso-token-0123" not in reply.error


async def test_a_command_that_fails_is_named(sign, aws, tmp_path):
    aws(config=f"[profile p]\n{process(tmp_path, 'raise SystemExit(3)')}", AWS_PROFILE="p")
    reply = await sign()

    assert reply.error.startswith("No AWS credentials: ")
    assert "AWS_PROFILE=p" in reply.error


async def test_a_broken_file_is_named_without_its_lines(sign, aws, tmp_path):
    aws(config="[default\nkey = secret-0123456789\n", credentials=f"[default]\n{KEYS}")
    reply = await sign()

    assert str(tmp_path / "config") in reply.error
    assert "secret-0123456789" not in reply.error


@pytest.mark.parametrize(
    ("known", "credentials"),
    [
        ({"config": "[profile p]\ncredential_process = echo no\n", "AWS_PROFILE": "p"}, "it does not print JSON"),
        (
            {"AWS_WEB_IDENTITY_TOKEN_FILE": "/nowhere", "AWS_ROLE_ARN": "arn:aws:iam::1:role/r"},
            "Check what AWS_WEB_IDENTITY_TOKEN_FILE names",
        ),
    ],
    ids=["command", "web identity"],
)
async def test_what_gives_no_credentials_is_named(sign, aws, known, credentials):
    aws(**known)
    reply = await sign()

    assert reply.error.startswith("No AWS credentials: ")
    assert credentials in reply.error


# What core receives


async def test_a_broken_file_is_reported_instead_of_what_to_set(aws, tmp_path):
    aws(config="[default\nkey = secret-0123456789\n")

    with pytest.raises(MissingKey, match=r"config' cannot be read, line 1: .* Correct it\.") as raised:
        await AwsCredentials().credential("amazon-bedrock")
    assert "secret-0123456789" not in str(raised.value)


@pytest.mark.parametrize(
    ("known", "expected"),
    [
        ({}, None),
        ({"key": True}, True),
        ({"AWS_ACCESS_KEY_ID": "a"}, None),
        ({"AWS_PROFILE": "p"}, True),
        ({"AWS_CONTAINER_CREDENTIALS_RELATIVE_URI": "/x"}, True),
        ({"AWS_WEB_IDENTITY_TOKEN_FILE": "/x", "AWS_ROLE_ARN": "arn"}, True),
        ({"credentials": f"[default]\n{KEYS}"}, True),
        ({"config": f"[default]\n{SSO}"}, True),
        ({"config": "[default]\nregion = us-east-1\n"}, None),
    ],
)
async def test_what_exists_is_reported_without_asking(aws, known, expected):
    aws(**known)
    source = AwsCredentials()

    assert source.available("amazon-bedrock") is expected
    assert source.available("openai") is False
    assert await source.credential("openai") is None
    if expected:
        assert await source.credential("amazon-bedrock") == AUTHENTICATED
    else:
        with pytest.raises(MissingKey, match="AWS_PROFILE"):
            await source.credential("amazon-bedrock")


async def test_a_machine_that_may_have_a_role_is_asked_when_it_is_needed(monkeypatch, tmp_path):
    vendor = tmp_path / "vendor"
    vendor.write_text("Amazon EC2\n", encoding="utf-8")
    monkeypatch.setattr(credential_source, "_VENDOR", str(vendor))
    monkeypatch.delenv("AWS_EC2_METADATA_DISABLED")

    assert AwsCredentials().available("amazon-bedrock") is None
    assert await AwsCredentials().credential("amazon-bedrock") == AUTHENTICATED
