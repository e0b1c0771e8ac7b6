"""The little English that the rules understand: tokens, noun phrases, verbs, clauses."""

from __future__ import annotations

from pi_provider_offline._language._grammar import parse

__all__ = ["parse"]
