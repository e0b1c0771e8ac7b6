"""Which hosts are on this machine or in a private network."""

from __future__ import annotations

from pi_provider_kit import is_local
from pi_testing import for_each


@for_each(
    ("base_url", "expected"),
    [
        ("http://localhost:1/v1", True),
        ("http://127.0.0.1:1", True),
        ("http://[::1]:1", True),
        ("http://192.168.1.5:8000/v1", True),
        ("http://box.local/v1", True),
        ("https://api.openai.com/v1", False),
        ("http://8.8.8.8/v1", False),
        ("http://999.1.1.1/v1", False),
        ("", False),
    ],
)
def test_which_hosts_are_private(base_url, expected):
    assert is_local(base_url) is expected
