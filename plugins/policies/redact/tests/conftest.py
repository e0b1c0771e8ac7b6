"""Keys of every format, made up; written in parts, so that no scanner takes this file for a leak."""

from __future__ import annotations

import base64
import json
import random
import string
import uuid
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable

LETTERS = string.ascii_letters + string.digits
HEX, LOWER, UPPER, BASE64 = (
    "0123456789abcdef",
    string.ascii_lowercase + string.digits,
    string.ascii_uppercase + string.digits,
    LETTERS + "+/",
)


@pytest.fixture(scope="session")
def made_up() -> Callable[[int], dict[str, str]]:
    """``made_up(number)``: a key of each format; another number makes other keys."""
    return keys_of


@pytest.fixture(scope="session")
def shapes() -> Callable[[int], dict[str, tuple[str, str]]]:
    """``shapes(number)``: by name, a text and the secret in it that must not remain."""
    return shapes_of


@pytest.fixture(scope="session")
def private_key() -> Callable[[int], str]:
    """``private_key(number)``: a private key of many lines."""
    return private_key_of


def keys_of(number: int) -> dict[str, str]:
    """Return a key of each format; another number makes other keys."""
    chance = random.Random(number)  # noqa: S311 - made up, but the same in each run

    def some(count: int, alphabet: str = LETTERS) -> str:
        text = "".join(chance.choices(alphabet, k=count - 3))
        return text[:5] + "".join(chance.choice(kind) for kind in ("A", "b", "7") if kind in alphabet) + text[5:]

    hexa, upper = "0123456789abcdef", string.ascii_uppercase + "234567"
    head = base64.urlsafe_b64encode(json.dumps({"alg": "HS256"}).encode()).decode().rstrip("=")
    body = base64.urlsafe_b64encode(json.dumps({"sub": number}).encode()).decode().rstrip("=")
    return {
        "anthropic": "sk-" + "ant-api03-" + some(80),
        "openai": "sk-" + "proj-" + some(48),
        "openai-old": "sk-" + some(48),
        "openrouter": "sk-" + "or-v1-" + "".join(chance.choices(hexa, k=64)),
        "github": "gh" + "p_" + some(38),
        "github-fine": "github_" + "pat_" + some(82),
        "gitlab": "gl" + "pat-" + some(22),
        "aws": "AK" + "IA" + "".join(chance.choices(upper, k=16)),
        "google": "AI" + "za" + "".join(chance.choices(LETTERS, k=35)),
        "slack": "xo" + "xb-" + some(40),
        "stripe": "sk_" + "live_" + some(30),
        "sendgrid": "S" + "G." + some(22) + "." + some(43),
        "npm": "np" + "m_" + "".join(chance.choices(LETTERS, k=36)),
        "pypi": "py" + "pi-AgE" + some(80),
        "huggingface": "h" + "f_" + "".join(chance.choices(string.ascii_letters, k=34)),
        "groq": "gs" + "k_" + some(52),
        "xai": "xa" + "i-" + some(80),
        "digitalocean": "dop" + "_v1_" + "".join(chance.choices(hexa, k=64)),
        "vault": "hv" + "s." + some(28),
        "telegram": "123456789" + ":AA" + "".join(chance.choices(LETTERS, k=33)),
        "jwt": f"{head}.{body}." + some(43),
        "azure": "Account" + "Key=" + "".join(chance.choices(LETTERS, k=86)) + "==",
    }


def private_key_of(number: int) -> str:
    """Return a private key of many lines."""
    chance = random.Random(number)  # noqa: S311 - as above
    lines = ["".join(chance.choices(LETTERS, k=64)) for _ in range(20)]
    return "\n".join(["-----BEGIN RSA " + "PRIVATE KEY-----", *lines, "-----END RSA PRIVATE KEY-----"])


def shapes_of(number: int) -> dict[str, tuple[str, str]]:
    """Return, by name, a text and the secret in it that must not remain."""
    chance = random.Random(number)  # noqa: S311 - made up, but the same in each run

    def some(count: int, alphabet: str = LETTERS) -> str:
        while True:
            text = "".join(chance.choices(alphabet, k=count))
            if (
                count < 20
                or len(alphabet) < 60
                or (any(map(str.isdigit, text)) and any(map(str.islower, text)) and any(map(str.isupper, text)))
            ):
                return text

    def encoded(part: bytes) -> str:
        return base64.urlsafe_b64encode(part).decode().rstrip("=")

    def basic(user: str) -> str:
        return base64.b64encode(f"{user}:{some(12)}".encode()).decode()

    known = {
        "anthropic": "sk-" + "ant-api03-" + some(93, LETTERS + "-_") + "AA",
        "openai": "sk-" + some(48),
        "openai project": "sk-" + "proj-" + some(74, LETTERS) + "T3BlbkFJ" + some(74),
        "openrouter": "sk-" + "or-v1-" + some(64, HEX),
        "deepseek": "sk-" + some(32, HEX),
        "perplexity": "pp" + "lx-" + some(48),
        "replicate": "r8" + "_" + some(37),
        "groq": "gs" + "k_" + some(52),
        "xai": "xa" + "i-" + some(80),
        "huggingface": "h" + "f_" + some(34),
        "nvidia": "nv" + "api-" + some(64),
        "langsmith": "ls" + "v2_pt_" + some(32, HEX) + "_" + some(10, HEX),
        "pinecone": "pc" + "sk_" + some(6) + "_" + some(63),
        "github": "gh" + "p_" + some(36),
        "github app": "gh" + "s_" + some(36),
        "github fine-grained": "github" + "_pat_" + some(22) + "_" + some(59),
        "gitlab": "gl" + "pat-" + some(20),
        "bitbucket": "AT" + "BB" + some(28),
        "atlassian": "AT" + "ATT3x" + some(180, LETTERS + "-_") + "=" + some(8, "0123456789ABCDEF"),
        "npm": "np" + "m_" + some(36),
        "pypi": "pypi-" + "AgEIcHlwaS5vcmc" + some(90),
        "rubygems": "ruby" + "gems_" + some(48, HEX),
        "docker hub": "dckr" + "_pat_" + some(27),
        "circleci": "CC" + "IPAT_" + some(22) + "_" + some(40, HEX),
        "buildkite": "bk" + "ua_" + some(40, HEX),
        "sonarqube": "sq" + "p_" + some(40, HEX),
        "artifactory": "AK" + "Cp" + some(69),
        "aws": "AK" + "IA" + some(16, string.ascii_uppercase + "234567"),
        "aws session": "AS" + "IA" + some(16, string.ascii_uppercase + "234567"),
        "google": "AI" + "za" + some(35),
        "google client": "GOC" + "SPX-" + some(28),
        "google access": "ya" + "29." + some(60, LETTERS + "-_"),
        "google refresh": "1/" + "/0" + some(60, LETTERS + "-_"),
        "azure ad": some(3) + "8Q" + "~" + some(34),
        "digitalocean": "dop" + "_v1_" + some(64, HEX),
        "heroku": "HR" + "KU-" + some(60, LETTERS + "-_"),
        "fly": "fo" + "1_" + some(43),
        "fly macaroon": "fm" + "2_" + some(120, BASE64),
        "netlify": "nf" + "p_" + some(36),
        "supabase": "sb" + "p_" + some(40, HEX),
        "supabase secret": "sb" + "_secret_" + some(31),
        "planetscale": "ps" + "cale_tkn_" + some(43),
        "planetscale password": "ps" + "cale_pw_" + some(43),
        "databricks": "da" + "pi" + some(32, HEX),
        "tailscale": "ts" + "key-auth-" + some(12) + "CNTRL-" + some(32),
        "vault": "hv" + "s." + some(24),
        "terraform": some(14) + ".atlas" + "v1." + some(67),
        "pulumi": "pu" + "l-" + some(40, HEX),
        "doppler": "dp" + ".pt." + some(43),
        "age": "AGE-SECRET" + "-KEY-1" + some(58, UPPER),
        "grafana cloud": "gl" + "c_" + some(80, BASE64),
        "grafana service": "gl" + "sa_" + some(32) + "_" + some(8, HEX),
        "new relic": "NR" + "AK-" + some(27, UPPER),
        "sentry": "sn" + "tryu_" + some(64, HEX),
        "sentry organization": "sn" + "trys_eyJ" + some(120),
        "dynatrace": "dt0" + "c01." + some(24, UPPER) + "." + some(64, UPPER),
        "slack": "xo" + "xb-" + some(12, string.digits) + "-" + some(13, string.digits) + "-" + some(24),
        "slack app": "xa" + "pp-1-" + some(11, UPPER) + "-" + some(13, string.digits) + "-" + some(64, HEX),
        "discord bot": "MT" + some(24) + "." + some(6) + "." + some(38),
        "telegram": some(9, "123456789") + ":" + "AA" + some(33, LETTERS),
        "twilio": "S" + "K" + some(32, HEX),
        "sendgrid": "S" + "G." + some(22) + "." + some(43),
        "mailgun": "ke" + "y-" + some(32, HEX),
        "mailgun private": some(32, HEX) + "-" + some(8, HEX) + "-" + some(8, HEX),
        "mailchimp": some(32, HEX) + "-" + "us12",
        "brevo": "xkey" + "sib-" + some(64, HEX) + "-" + some(16),
        "notion": "nt" + "n_" + some(46),
        "notion secret": "sec" + "ret_" + some(43),
        "figma": "fi" + "gd_" + some(40, LETTERS + "-_"),
        "airtable": "pa" + "t" + some(14) + "." + some(64, HEX),
        "linear": "lin" + "_api_" + some(40),
        "postman": "PM" + "AK-" + some(24, HEX) + "-" + some(34, HEX),
        "stripe": "sk" + "_live_" + some(99),
        "stripe webhook": "wh" + "sec_" + some(32),
        "shopify": "sh" + "pat_" + some(32, HEX),
        "square": "sq0" + "atp-" + some(22),
        "square access": "EA" + "AA" + some(60, LETTERS + "-_"),
        "paypal": "access" + "_token$production$" + some(16, LOWER) + "$" + some(32, HEX),
        "jwt": encoded(b'{"alg":"HS256"}') + "." + encoded(b'{"sub":"ann smith"}') + "." + some(43),
    }  # fmt: skip
    body = "\n".join(some(64, BASE64) for _ in range(6))
    secret, chosen, pin = some(40), "Tr0ub4dor" + "&3zebra", "h3avy" + "-Rain"
    pgp = "PRIVATE " + "KEY BLOCK-----"
    around = {
        "azure storage": (f"AccountName=a;Account{''}Key={(key := some(86, BASE64))}==;Endpoint=x", key),
        "azure sas": (f"https://a.blob.core.windows.net/c?sv=2022&si{''}g={(key := some(43))}%3D&se=1", key),
        "slack webhook": (f"https://hooks.slack.com/services/T{some(8, UPPER)}/B012/{(key := some(24))}", key),
        "discord webhook": (f"https://discord.com/api/webhooks/1234567890123/{(key := some(68))}", key),
        "private key": (f"-----BEGIN RSA PRIVATE {''}KEY-----\n{body}\n-----END RSA PRIVATE KEY-----", body[70:100]),
        "cut private key": (f"-----BEGIN OPENSSH PRIVATE {''}KEY-----\n{body}", body[-60:]),
        "pgp key": (f"-----BEGIN PGP {pgp}\nVersion: GnuPG v2\n\n{body}\n=aB3d\n-----END PGP {pgp}", body[70:100]),
        "putty": (f"PuTTY-User-Key-File-3: ssh-rsa\nPrivate-Lines: 6\n{body}\nPrivate-MAC: 0", body[70:100]),
        "address": (f"postgres://bob:{pin}@db.example.org/shop", pin),
        "address without user": (f"redis://:{pin}@cache:6379/0", pin),
        "bearer": (f"Authorization: Bearer {secret}", secret),
        "basic": (f"authorization: Basic {(key := basic('ann'))}", key),
        "curl header": (f"curl -H 'Authorization: token {secret}' https://example.org", secret),
        "curl user": (f"curl -sS -u ann:{pin} https://example.org", pin),
        "cookie": (f"Cookie: theme=dark; session={secret}; x=1", secret),
        "set-cookie": (f"< Set-Cookie: sid={secret}; Path=/; HttpOnly", secret),
        "netrc": (f"machine example.org login ann password {pin}", pin),
        "netrc lines": (f"machine example.org\n  login ann\n  password {pin}\n", pin),
        "variable": (f"DB_PASSWORD={chosen}", chosen),
        "simple variable": ("DB_PASSWORD=correct" + "horse", "correct" + "horse"),
        "exported variable": (f"export MY_API_KEY={secret}", secret),
        "quoted variable": (f'MY_API_KEY="{secret}"', secret),
        "vendor variable": (f"DATADOG_API_KEY={(key := some(32, HEX))}", key),
        "uuid": (f"HEROKU_API_KEY={(key := str(uuid.UUID(int=chance.getrandbits(128))))}", key),
        "aws secret": (f"aws_secret_access_key = {(key := some(40, BASE64))}", key),
        "json": (f'{{"user": "ann", "password": "{chosen}"}}', chosen),
        "json in json": (f'{{"body": "{{\\"password\\": \\"{chosen}\\"}}"}}', chosen),
        "yaml": (f"password: {chosen}", chosen),
        "python": (f"client = Client(api_key='{secret}')", secret),
        "toml": (f'client_secret = "{secret}"', secret),
        "option": (f"mysql --password={chosen} shop", chosen),
        "query": (f"https://example.org/cb?access_token={secret}&x=1", secret),
        "xml": (f"<password>{chosen}</password>", chosen),
        "header": (f"X-Api-Key: {secret}", secret),
        "connection string": (f"Server=db;User Id=sa;Password={chosen};", chosen),
    }  # fmt: skip
    return {name: (f"the key is {key} as of today", key) for name, key in known.items()} | around
