"""Cassettes: the traffic of a provider and its server, recorded once and replayed without a network.

The fixture ``cassette`` makes one for each test. A server on the loopback interface replaces the real one, so that
any client can be recorded: pi's own providers, third-party ones, a vendor's SDK; each needs only another base URL.
"""

from __future__ import annotations

from pi_testing.cassettes.cassette import Cassette, RecordMode
from pi_testing.cassettes.secret_values import REMOVED

__all__ = ["REMOVED", "Cassette", "RecordMode"]
