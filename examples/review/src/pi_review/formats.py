"""The forms of a result: text for people, JSON for programs, and those of CI services."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING

from pi_review.ci_formats import github, gitlab, junit, sarif

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from pi_review.findings import Result

__all__ = ["FORMATS"]

CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f]")  # the text is for a terminal


def text(result: Result) -> str:
    """Return a paragraph for each finding, then the summary."""
    found = [f"{each.path}:{each.line}: {each.severity.value}: {each.title}\n{each.body}\n" for each in result.findings]
    count = f"{len(result.findings)} finding{'' if len(result.findings) == 1 else 's'}, {result.dollars:.4f} dollars."
    return CONTROL.sub("", "\n".join([*found, *result.summaries, count])) + "\n"


def as_json(result: Result) -> str:
    """Return one object; `problem` says why the review is not complete, or is null."""
    findings = [
        {
            "path": each.path,
            "line": each.line,
            "severity": each.severity.value,
            "title": each.title,
            "body": each.body,
            "fingerprint": each.fingerprint,
        }
        for each in result.findings
    ]
    data = {"summary": "\n".join(result.summaries), "findings": findings, "dollars": result.dollars}
    return json.dumps({**data, "problem": result.problem}, indent=2, ensure_ascii=False) + "\n"


FORMATS: Mapping[str, Callable[[Result], str]] = {
    "text": text,
    "json": as_json,
    "sarif": sarif,
    "junit": junit,
    "github": github,
    "gitlab": gitlab,
}
