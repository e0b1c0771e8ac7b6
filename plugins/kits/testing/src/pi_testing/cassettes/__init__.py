"""Cassettes: what a provider and its server said to each other, recorded once and replayed without a network.

The fixture ``cassette`` is one for each test. A server on the loopback interface stands in for the real one, so that
any client can be recorded: a provider of ours, a stranger's, a vendor's SDK; all that it needs is another base URL.
"""

from __future__ import annotations

from pi_testing.cassettes._cassette import Cassette, RecordMode
from pi_testing.cassettes._secrets import REMOVED

__all__ = ["REMOVED", "Cassette", "RecordMode"]
