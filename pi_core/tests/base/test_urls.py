"""Addresses that may be opened: pi shows the host that a browser opens."""

from __future__ import annotations

import pytest

from pi_core import url_problem


@pytest.mark.parametrize(
    "url", ["https://a.example/x?y=z#w", "http://localhost:8080", "mailto:a@b.example", "https://u:p@a.example/%7Ex"]
)
def test_an_address_that_all_read_alike_may_be_opened(url: str) -> None:
    assert url_problem(url) is None


@pytest.mark.parametrize(
    "url",
    [
        r"https://evil.example\@good.example/login",
        r"https:\\evil.example",
        "https://a.example/\n",
        "https://a.example/ x",
        "https://a.example/\u202e",
        "https://{a}.example",
        "javascript:alert(1)",
        "file:///etc/passwd",
        "https://",
        "https://[bad",
        "mailto:",
        "",
    ],
)
def test_an_address_that_hides_its_host_or_runs_code_is_refused(url: str) -> None:
    assert url_problem(url)
