"""The outcome as JUnit XML, which CI services show as test results: a test case for each prompt."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING
from xml.etree.ElementTree import Element, SubElement, tostring

if TYPE_CHECKING:
    from pi_eval.outcome import CaseOutcome, Outcome

__all__ = ["junit"]

_NOT_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def junit(outcome: Outcome) -> bytes:
    """Return the document: a test case fails with a regression, or with a rate that is too low."""
    name = outcome.plan.file.stem
    suite = Element("testsuite", name=f"pi eval {name}", tests=str(len(outcome.cases)))
    suite.set("failures", str(sum(_has_failed(each) for each in outcome.cases)))
    suite.set("time", f"{sum(map(_seconds, outcome.cases)):.3f}")
    for each in outcome.cases:
        case = SubElement(suite, "testcase", classname=_text(name), name=_text(each.case.name))
        case.set("time", f"{_seconds(each):.3f}")
        passed, runs = each.counts
        summary = f"{passed} of {runs} runs passed"
        if _has_failed(each):
            why = "worse than the baseline" if each.is_regression else "the pass rate is too low"
            failure = SubElement(case, "failure", message=f"{summary}: {why}")
            failure.text = _text("\n".join(each.failures()))
        else:
            SubElement(case, "system-out").text = _text("\n".join([summary, *each.failures()]))
    document: bytes = tostring(suite, encoding="utf-8", xml_declaration=True)
    return document


def _has_failed(case: CaseOutcome) -> bool:
    return case.is_regression or case.has_failed


def _seconds(case: CaseOutcome) -> float:
    return sum(each.seconds for each in case.records)


def _text(text: str) -> str:
    return _NOT_XML.sub("\N{REPLACEMENT CHARACTER}", text)
