"""Tests of a contract that only apply if the subject has a feature; the others are skipped, with a reason."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar, TypeVar

import pytest

__all__ = ["ContractSuite", "needs", "needs_of", "skip_unless_supported"]

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


def skip_unless_supported(
    test: Callable[..., Any], supports: frozenset[str], features: frozenset[str], subject: str
) -> None:
    """Skip a test that needs features which its subject does not support; the reason names them.

    Args:
        test: The test.
        supports: What the subject supports.
        features: All that a test may need.
        subject: The name of the subject's class.
    """
    unknown = supports - features
    assert not unknown, f"supports has {sorted(unknown)}, which no test knows; known: {sorted(features)}"
    missing = sorted(set(needs_of(test)) - supports)
    if missing:
        pytest.skip(f"{subject} does not support: {', '.join(missing)}")


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
        skip_unless_supported(request.function, self.supports, self.features, type(self).__name__)
