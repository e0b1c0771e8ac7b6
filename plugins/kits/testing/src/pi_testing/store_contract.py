"""The contract suite for session stores: tests that every store must pass.

```python
class TestMyStore(StoreContract):
    def make_store(self, place):
        return MyStore(place)
```
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, TypeAlias, get_args

import pytest

pytest.register_assert_rewrite(
    "pi_testing.contract_store", "pi_testing.contract_stored"
)  # failing assertions show the values that they compared

from pi_hookspecs import SessionPlace  # noqa: E402 - after the line above, as what follows
from pi_testing.contract_needs import ContractSuite  # noqa: E402 - as above
from pi_testing.contract_store import StoreRows  # noqa: E402 - as above
from pi_testing.contract_stored import entries_of_all_kinds, entry, header  # noqa: E402 - as above

if TYPE_CHECKING:
    from pathlib import Path

    from pi_hookspecs import SessionStore

__all__ = ["STORE_FEATURES", "StoreContract", "StoreFeature", "entries_of_all_kinds", "entry", "header"]

StoreFeature: TypeAlias = Literal["durable", "lazy"]
"""The features that a test may need:

- ``durable``: stored data can be read at once by another store of the same location.
- ``lazy``: a session does not exist in the store until its first entries are stored.
"""

STORE_FEATURES: frozenset[str] = frozenset(get_args(StoreFeature))


class StoreContract(StoreRows, ContractSuite):
    """All tests of the contract; a subclass whose name begins with ``Test`` defines ``make_store``."""

    features = STORE_FEATURES
    supports = STORE_FEATURES

    def make_store(self, place: SessionPlace) -> SessionStore:
        """Return the store under test, for a location that other stores may be using."""
        raise NotImplementedError(f"{type(self).__name__} needs a method make_store(place) that returns the store")

    @pytest.fixture
    def place(self, tmp_path: Path) -> SessionPlace:
        """Return the location of a test's sessions."""
        return SessionPlace(agent_dir=tmp_path / "agent")

    @pytest.fixture
    def store(self, place: SessionPlace) -> SessionStore:
        """Return an empty store."""
        return self.make_store(place)
