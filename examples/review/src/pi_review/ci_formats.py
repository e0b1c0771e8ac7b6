"""The forms of CI services: SARIF 2.1.0, JUnit, GitHub's workflow commands, and GitLab's code quality report."""

from __future__ import annotations

import json
import re
from collections import Counter
from typing import TYPE_CHECKING
from urllib.parse import quote
from xml.etree.ElementTree import Element, SubElement, tostring

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pi_review.findings import Finding, Result

__all__ = ["github", "gitlab", "junit", "sarif"]

GITHUB = {"error": "error", "warning": "warning", "note": "notice"}
GITLAB = {"error": "major", "warning": "minor", "note": "info"}
NOT_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")

SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"
RULE = {
    "id": "review",
    "name": "Review",
    "shortDescription": {"text": "A finding of a review by a model"},
    "fullDescription": {"text": "A language model read the change and reported a problem at one of its lines."},
    "help": {"text": "Judge the finding yourself: a model can be wrong. Change the code, or dismiss the alert."},
}
"""With all that code scanning requires of a rule."""


def sarif(result: Result) -> str:
    """Return a log with one run, as GitHub's code scanning reads it."""
    results = []
    for each, fingerprint in _with_fingerprints(result):
        place = {"artifactLocation": {"uri": quote(each.path)}, "region": {"startLine": each.line}}
        results.append({
            "ruleId": "review",
            "level": each.severity.value,
            "message": {"text": f"{each.title}\n\n{each.body}"},
            "locations": [{"physicalLocation": place}],
            "partialFingerprints": {"piReview/v1": fingerprint},
        })  # fmt: skip
    run = {"tool": {"driver": {"name": "pi review", "rules": [RULE]}}, "results": results}
    return json.dumps({"$schema": SCHEMA, "version": "2.1.0", "runs": [run]}, indent=2) + "\n"


def junit(result: Result) -> str:
    """Return a test case for each finding; those that do not fail the review have passed."""
    suite = Element("testsuite", name="pi review", failures=str(sum(map(result.fails, result.findings))))
    suite.set("tests", str(max(1, len(result.findings))))
    for each in result.findings:
        case = SubElement(suite, "testcase", classname=_xml(each.path), name=_xml(f"line {each.line}: {each.title}"))
        kind = "failure" if result.fails(each) else "system-out"
        SubElement(case, kind).text = _xml(f"{each.path}:{each.line}: {each.severity.value}\n{each.body}")
    if not result.findings:
        SubElement(suite, "testcase", classname="review", name="no findings")
    return tostring(suite, encoding="unicode") + "\n"


def github(result: Result) -> str:
    """Return a command for each finding, which makes it an annotation, and the summary as the log's text."""
    lines = []
    for each in result.findings:
        place = f"file={_data(each.path, ':,')},line={each.line},title={_data(each.title, ':,')}"
        lines.append(f"::{GITHUB[each.severity.value]} {place}::{_data(each.body)}")
    return "\n".join([*lines, *(f"Summary: {' '.join(each.split())}" for each in result.summaries), ""])


def gitlab(result: Result) -> str:
    """Return a list of issues."""
    issues = [
        {
            "description": f"{each.title}. {each.body}",
            "check_name": "pi-review",
            "fingerprint": fingerprint,
            "severity": GITLAB[each.severity.value],
            "location": {"path": each.path, "lines": {"begin": each.line}},
        }
        for each, fingerprint in _with_fingerprints(result)
    ]
    return json.dumps(issues, indent=2) + "\n"


def _with_fingerprints(result: Result) -> Iterator[tuple[Finding, str]]:
    """Yield each finding with a fingerprint of its own: services show one of those that have the same."""
    seen: Counter[str] = Counter()
    for each in result.findings:
        seen[each.fingerprint] += 1
        yield each, f"{each.fingerprint}:{seen[each.fingerprint]}"


def _data(text: str, and_these: str = "") -> str:
    return "".join(f"%{ord(each):02X}" if each in f"%\r\n{and_these}" else each for each in text)


def _xml(text: str) -> str:
    return NOT_XML.sub("\N{REPLACEMENT CHARACTER}", text)
