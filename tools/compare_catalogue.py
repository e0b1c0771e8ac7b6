"""Write docs/reference/catalogue.md: the models of the original, and which of them pi knows with the same facts.

The original's library is the version that ``build_catalog.py`` joins; npm fetches it, and its hash is compared. Run
it with ``uv run python tools/compare_catalogue.py`` after the catalogue was built anew; with ``--check`` it writes
nothing and fails if the page would change.
"""

from __future__ import annotations

import sys
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

from build_catalog import ORIGINAL, fetch_original
from one_page import write_or_check

import pi_models
from pi_core.models.renamed import RENAMED

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pi_hookspecs import Model

PAGE = Path(__file__).resolve().parent.parent / "docs" / "reference" / "catalogue.md"

REASONS = {
    ("radius", "missing"): "a gateway that pi has no sign-in for; models.json can add it",
    ("azure", "missing"): "not of the Responses API, with which pi speaks to Azure",
    ("openrouter", "missing"): "an image model here: it draws, and holds no conversation",
}
"""Why models of a provider differ, by the original's provider and what differs."""

TEXT = """\
# Models compared with the original's

<!-- Made by tools/compare_catalogue.py; change the tool, or the catalogue. -->
Of the {total} models for conversations in the original's library (`{library}`), pi has {same} with the same
context window, output limit, thinking levels and prices. In parentheses is what pi calls a provider.

| provider | models of the original | the same here |
| --- | --- | --- |
{providers}

These are different:

| provider | models | what | why |
| --- | --- | --- | --- |
{others}

pi knows {more} further models for conversations, of these and other providers.
[pi update --models](../models.md#models-that-are-newer-than-pi) fetches what is newer.
"""


def differences(theirs: Mapping[str, Any], ours: Model | None) -> str:
    """Return what of a model differs, as words; an empty text for nothing."""
    if ours is None:
        return "missing"
    cost, levels = theirs["cost"], theirs.get("thinkingLevelMap") if theirs["reasoning"] else None
    prices = (ours.cost.input, ours.cost.output, ours.cost.cache_read, ours.cost.cache_write)
    wanted = (cost["input"], cost["output"], cost["cacheRead"], cost["cacheWrite"])
    facts = {
        "context window": ours.context_window == theirs["contextWindow"],
        "output limit": ours.max_tokens == theirs["maxTokens"],
        "thinking": ours.reasoning == theirs["reasoning"],
        "thinking levels": (ours.thinking_level_map or {}) == (levels or {}),
        "prices": all(round(one, 6) == round(other, 6) for one, other in zip(prices, wanted, strict=True)),
    }
    return ", ".join(name for name, is_same in facts.items() if not is_same)


def main() -> int:
    """Write the page; return the exit code."""
    known = {info.id: {each.id: each for each in info.models} for info in pi_models.register_models()}
    listed, same, others = Counter[str](), Counter[str](), Counter[tuple[str, str]]()
    for provider, groups in sorted(fetch_original().items()):
        ours = known.get(RENAMED.get(provider, provider), {})
        for model in (each for group in groups.values() for each in group.values() if each["type"] == "chat"):
            what = differences(model, ours.get(model["id"]))
            listed[provider] += 1
            same[provider] += not what
            others[provider, what] += bool(what)
    different = {key: number for key, number in sorted(others.items()) if number}
    unexplained = different.keys() - REASONS.keys()
    if unexplained:
        print("\n".join(f"REASONS has no {each}" for each in sorted(unexplained)))
        return 1
    providers = [
        f"| {each if RENAMED.get(each, each) == each else f'{each} ({RENAMED[each]})'} | {number} | {same[each]} |"
        for each, number in listed.items()
    ]
    missing = sum(number for (_, what), number in different.items() if what == "missing")
    text = TEXT.format(
        total=sum(listed.values()),
        library=ORIGINAL,
        same=sum(same.values()),
        providers="\n".join(providers),
        others="\n".join(
            f"| {provider} | {number} | {what} | {REASONS[provider, what]} |"
            for (provider, what), number in different.items()
        ),
        more=sum(map(len, known.values())) - sum(listed.values()) + missing,
    )
    return write_or_check(PAGE, text)


if __name__ == "__main__":
    sys.exit(main())
