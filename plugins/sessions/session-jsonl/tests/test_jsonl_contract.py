"""The contract that holds for every session store, over the two that pi has."""

from __future__ import annotations

from pi_core.session.memory import MemoryStore
from pi_session_jsonl.store import JsonlSessionStore
from pi_testing import StoreContract
from pi_testing.store_contract import STORE_FEATURES


class TestJsonl(StoreContract):
    def make_store(self, place):
        return JsonlSessionStore(place)


class TestMemory(StoreContract):
    supports = STORE_FEATURES - {"durable", "lazy"}

    def make_store(self, place):
        return MemoryStore(place)
