"""The contract suite of session stores: one set of tests that every store runs.

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
    "pi_testing._contract_store", "pi_testing._contract_stored"
)  # rows show what they compared

from pi_hookspecs import SessionPlace  # noqa: E402 - after the line above, as what follows
from pi_testing._contract_needs import ContractSuite  # noqa: E402 - as above
from pi_testing._contract_store import StoreRows  # noqa: E402 - as above
from pi_testing._contract_stored import entries_of_all_kinds, entry, header  # noqa: E402 - as above

if TYPE_CHECKING:
    from pathlib import Path

    from pi_hookspecs import SessionStore

__all__ = ["STORE_FEATURES", "StoreContract", "StoreFeature", "entries_of_all_kinds", "entry", "header"]

StoreFeature: TypeAlias = Literal["durable", "lazy"]
"""What a row may need:

- ``durable``: what is stored can be read by another store of the same place, at once.
- ``lazy``: a session exists with its first entries, not before.
"""

STORE_FEATURES: frozenset[str] = frozenset(get_args(StoreFeature))


class StoreContract(StoreRows, ContractSuite):
    """All rows of the contract; a subclass whose name begins with ``Test`` has ``make_store``."""

    features = STORE_FEATURES
    supports = STORE_FEATURES

    def make_store(self, place: SessionPlace) -> SessionStore:
        """Return the store under test, of a place that may be in use by other stores."""
        raise NotImplementedError(f"{type(self).__name__} needs a method make_store(place) that returns the store")

    @pytest.fixture
    def place(self, tmp_path: Path) -> SessionPlace:
        """Return where the sessions of a test are kept."""
        return SessionPlace(agent_dir=tmp_path / "agent")

    @pytest.fixture
    def store(self, place: SessionPlace) -> SessionStore:
        """Return a store that nothing is stored in yet."""
        return self.make_store(place)
