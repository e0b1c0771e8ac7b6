"""Which names say that a value is a secret."""

from __future__ import annotations

import pytest

from pi_hookspecs import is_secret_name, is_secret_variable
from pi_testing import for_each

SECRET = (
    "OPENAI_API_KEY GITHUB_TOKEN AWS_SECRET_ACCESS_KEY AWS_ACCESS_KEY_ID PGPASSWORD DB_PASS MYSQL_PWD GITHUB_PAT"
    " OPENAI_APIKEY ACCESSTOKEN API_KEY_2 TOKEN1 SESSION_COOKIE BASIC_AUTH SSH_PRIVATE_KEY apiKey accessToken"
    " clientSecret Authorization Proxy-Authorization X-Api-Key x-goog-api-key Cookie GOOGLE_APPLICATION_CREDENTIALS"
    " JWT BEARER CRED DB_CREDS CONNECTION_STRING ConnectionString SENTRY_DSN SLACK_WEBHOOK STRIPE_SK"
)
HARMLESS = (
    "PATH HOME PWD OLDPWD GIT_AUTHOR_NAME GIT_AUTHOR_EMAIL SSH_AUTH_SOCK XAUTHORITY MAX_TOKENS maxTokens"
    " AWS_WEB_IDENTITY_TOKEN_FILE SSH_KEY_PATH KEYBOARD MONKEY PI_MODEL USER EDITOR TERM COMPASS LANG"
    " TOKENIZERS_PARALLELISM WEBHOOK_PORT DESK TASK RISK_LEVEL"
)


@for_each("name", SECRET.split())
def test_the_value_of_this_name_is_a_secret(name):
    assert is_secret_name(name)


@for_each("name", HARMLESS.split())
def test_the_value_of_this_name_is_none(name):
    assert not is_secret_name(name)


@pytest.mark.parametrize(
    ("value", "secret"),
    [
        ("postgres://app:pw@db.example/app", True),
        ("redis://:pw@cache.example", True),
        ("options=x url=amqp://a:b@c", True),
        ("postgres://db.example/app", False),
        ("postgres://app@db.example/app", False),
        ("http://proxy.example:3128/a@b", False),
        ("12:30 @home", False),
    ],
)
def test_a_url_with_a_password_is_a_secret_whatever_its_name(value, secret):
    assert is_secret_variable("DATABASE_URL", value) is secret
