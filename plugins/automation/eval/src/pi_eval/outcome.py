"""The outcome of an evaluation: pass rates by prompt, compared with a baseline."""

from __future__ import annotations

import json
from collections import Counter
from typing import TYPE_CHECKING, Any

from attrs import Factory, define, frozen

from pi_eval.plan import InvalidFile
from pi_eval.stats import is_regression, wilson

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from pi_eval.plan import Case, Plan
    from pi_eval.run import Record

__all__ = ["Baseline", "CaseOutcome", "Outcome", "read_baseline"]

_LONGEST = 300  # characters of a reason


@frozen
class Baseline:
    """Passed runs and all runs of each prompt, by the prompt's name."""

    counts: Mapping[str, tuple[int, int]]


@define(eq=False)
class CaseOutcome:
    """A prompt's runs; ``before`` is the number of passed runs and of all runs in the baseline."""

    case: Case
    records: list[Record] = Factory(list)
    before: tuple[int, int] | None = None

    @property
    def counts(self) -> tuple[int, int]:
        """The number of passed runs and of all runs."""
        return sum(each.passed for each in self.records), len(self.records)

    @property
    def rate(self) -> float:
        """The pass rate."""
        passed, runs = self.counts
        return passed / runs if runs else 0.0

    @property
    def is_regression(self) -> bool:
        """Whether it is worse than the baseline by more than chance explains."""
        return self.before is not None and is_regression(self.before, self.counts)

    @property
    def has_failed(self) -> bool:
        """Whether its rate is below its threshold; without one and without a baseline every run must pass."""
        threshold = self.case.threshold
        if threshold is None:
            threshold = 1.0 if self.before is None else 0.0
        return self.rate < threshold or all(each.error is not None for each in self.records)

    def failures(self) -> list[str]:
        """Return a line for each reason why runs failed, with the numbers of these runs."""
        reasons: dict[str, list[int]] = {}
        for record in self.records:
            why = [f"{each.check}: {each.why}" for each in record.checks if not each.passed]
            for reason in [record.error] if record.error is not None else why:
                reasons.setdefault(" ".join(reason.split()), []).append(record.number)
        return [f"run {', '.join(map(str, runs))}: {why[:_LONGEST]}" for why, runs in reasons.items()]

    def as_json(self) -> dict[str, Any]:
        """Return it for ``--json``."""
        passed = Counter(check.check for each in self.records for check in each.checks if check.passed)
        names = dict.fromkeys(check.check for each in self.records for check in each.checks)
        return {
            "name": self.case.name,
            **_rate_json(self.counts),
            "dollars": round(sum(each.dollars for each in self.records), 6),
            "seconds": round(sum(each.seconds for each in self.records), 3),
            "checks": [{"check": name, "passed": passed[name]} for name in names],
            "baseline": _rate_json(self.before) if self.before is not None else None,
            "regression": self.is_regression,
            "failures": [_failure_json(each) for each in self.records if not each.passed],
        }


@define(eq=False)
class Outcome:
    """The outcome of an evaluation."""

    plan: Plan
    model: str | None
    cases: list[CaseOutcome]

    @classmethod
    def of(cls, plan: Plan, model: str | None, records: Sequence[Record], baseline: Baseline | None) -> Outcome:
        """Group the records of all runs by prompt."""
        counts = baseline.counts if baseline is not None else {}
        cases = [
            CaseOutcome(
                case,
                sorted((each for each in records if each.case == case.name), key=lambda each: each.number),
                counts.get(case.name),
            )
            for case in plan.cases
        ]
        return cls(plan, model, cases)

    @property
    def regressions(self) -> list[str]:
        """The prompts that are worse than the baseline."""
        return [each.case.name for each in self.cases if each.is_regression]

    @property
    def exit_code(self) -> int:
        """3 for a regression, 1 where a prompt failed, else 0."""
        if self.regressions:
            return 3
        return int(any(each.has_failed for each in self.cases))

    def as_json(self) -> dict[str, Any]:
        """Return it for ``--json``; a baseline is read from this form."""
        passed = sum(each.counts[0] for each in self.cases)
        runs = sum(each.counts[1] for each in self.cases)
        prompts = [each.as_json() for each in self.cases]
        return {
            "file": str(self.plan.file),
            "model": self.model,
            "total": {**_rate_json((passed, runs)), "dollars": round(sum(each["dollars"] for each in prompts), 6)},
            "prompts": prompts,
            "regressions": self.regressions,
        }


def read_baseline(file: Path) -> Baseline:
    """Read the outcome of an earlier evaluation, as ``--json`` printed it.

    Raises:
        InvalidFile: It cannot be read.
    """
    try:
        prompts = json.loads(file.read_text(encoding="utf-8"))["prompts"]
        return Baseline({each["name"]: (int(each["passed"]), int(each["runs"])) for each in prompts})
    except OSError as error:
        reason = f"{error.strerror}"
    except (ValueError, KeyError, TypeError):
        reason = "it is not what pi eval --json prints"
    raise InvalidFile([f"The baseline {str(file)!r} cannot be read: {reason}. Make one: pi eval FILE --save {file}"])


def _rate_json(counts: tuple[int, int]) -> dict[str, Any]:
    passed, runs = counts
    low, high = wilson(passed, runs)
    rate = round(passed / runs, 4) if runs else 0.0
    return {"runs": runs, "passed": passed, "rate": rate, "interval": [round(low, 4), round(high, 4)]}


def _failure_json(record: Record) -> dict[str, Any]:
    failed = [{"check": each.check, "why": each.why} for each in record.checks if not each.passed]
    return {"run": record.number, "error": record.error, "checks": failed, "session": record.session}
