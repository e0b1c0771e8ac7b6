"""Keys of every format, made up; written in parts, so that no scanner takes this file for a leak."""

from __future__ import annotations

import base64
import json
import random
import string
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable

LETTERS = string.ascii_letters + string.digits


@pytest.fixture(scope="session")
def made_up() -> Callable[[int], dict[str, str]]:
    """``made_up(number)``: a key of each format; another number makes other keys."""
    return keys_of


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
