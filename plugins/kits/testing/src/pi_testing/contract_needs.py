"""Tests of a contract that only apply if the subject has a feature; the others are skipped, with a reason."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar, TypeVar

import pytest

__all__ = ["ContractSuite", "needs", "needs_of"]

T = TypeVar("T", bound=Callable[..., Any])


def needs(*features: str) -> Callable[[T], T]:
    """Mark a test as one that only applies where all these features are supported."""

    def mark(test: T) -> T:
        test.__dict__["contract_needs"] = features
        return test

    return mark


def needs_of(test: Callable[..., Any]) -> tuple[str, ...]:
    """Return the features that a test needs."""
    found: tuple[str, ...] = getattr(test, "contract_needs", ())
    return found


class ContractSuite:
    """Common base of the suites of tools, session stores and front ends.

    Attributes:
        features: All that a row may need.
        supports: The supported features; a test that needs others is skipped, and its reason names them.
    """

    features: ClassVar[frozenset[str]] = frozenset()
    supports: frozenset[str] = frozenset()

    @pytest.fixture(autouse=True)
    def _only_what_applies(self, request: pytest.FixtureRequest) -> None:
        unknown = self.supports - self.features
        assert not unknown, f"supports has {sorted(unknown)}, which no test knows; known: {sorted(self.features)}"
        missing = sorted(set(needs_of(request.function)) - self.supports)
        if missing:
            pytest.skip(f"{type(self).__name__} does not support: {', '.join(missing)}")
