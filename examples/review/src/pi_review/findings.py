"""What a review consists of; the descriptions of `Review` are part of the schema that the model gets."""

from __future__ import annotations

from enum import Enum
from hashlib import sha256

from attrs import define, field, frozen

__all__ = ["Finding", "Result", "Review", "Severity"]


class Severity(Enum):
    """How bad a finding is, the worst first."""

    ERROR = "error"
    WARNING = "warning"
    NOTE = "note"


@frozen
class Finding:
    """One problem of the change.

    Attributes:
        path: The file, as in the diff.
        line: The number of the line in the new file.
        severity: error for what breaks, warning for what may break, note for everything else.
        title: The problem in at most 80 characters.
        body: Why it is a problem, and what to do.
    """

    path: str
    line: int
    severity: Severity
    title: str
    body: str

    @property
    def fingerprint(self) -> str:
        """Stays the same when lines above it come and go, so that a service recognizes the finding."""
        return sha256(repr((self.path, self.title, self.body)).encode()).hexdigest()


@frozen
class Review:
    """The result of a review; without problems, there are no findings.

    Attributes:
        summary: What the change does, in one or two sentences.
    """

    summary: str
    findings: list[Finding]


@define
class Result:
    """All parts of a review; findings of the severity `bar`, and worse ones, fail it."""

    bar: Severity | None
    summaries: list[str] = field(factory=list)
    findings: list[Finding] = field(factory=list)
    dollars: float = 0.0
    problem: str | None = None

    def add(self, part: Review, dollars: float) -> None:
        """Add a part; findings are ordered by file and line."""
        self.summaries.append(part.summary)
        self.findings = sorted([*self.findings, *part.findings], key=lambda each: (each.path, each.line))
        self.dollars += dollars

    def fails(self, finding: Finding) -> bool:
        """Return whether a finding fails the review."""
        order = [*Severity]
        return self.bar is not None and order.index(finding.severity) <= order.index(self.bar)
