"""The limits that settings and options name, and what makes no sense among them."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pi_budgets.limits import read_budgets
from pi_core import PluginHost, Settings
from pi_hookspecs import UserError

if TYPE_CHECKING:
    from pathlib import Path

    from pi_budgets.limits import Budgets


@pytest.fixture
def files(tmp_path: Path) -> tuple[Path, Path]:
    """The user's settings file and the project's."""
    own, project = tmp_path / "agent" / "settings.json", tmp_path / "work" / ".pi" / "settings.json"
    for file in (own, project):
        file.parent.mkdir(parents=True)
    return own, project


def read(files: tuple[Path, Path], **flags: str) -> Budgets:
    own, project = files
    settings = Settings.load(project.parent.parent, own.parent, trust=True)
    PluginHost(settings).declare_settings(settings)
    return read_budgets(settings, lambda name: flags.get(name.replace("-", "_")))


def amounts(found: Budgets) -> dict[str, float]:
    return {limit.setting: limit.amount for limit in found.limits}


def test_limits_are_read_by_scope_measure_and_name(files: tuple[Path, Path]) -> None:
    budgets = {"run": {"dollars": 1}, "by": {"agent:x": {"day": {"tokens": 9}}}, "unknownPrice": "refuse"}
    files[0].write_text(json.dumps({"budgets": budgets}))

    found = read(files, max_time="1h30m")

    assert [(each.who, each.scope, each.measure, each.amount) for each in found.limits] == [
        (None, "run", "dollars", 1),
        ("agent:x", "day", "tokens", 9),
        (None, "start", "seconds", 5400),
    ]
    assert found.unknown_price == "refuse"
    assert found.are_shared


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('{"day": {"dollars": -1}}', "setting budgets.day.dollars must be a number of at least 0, not -1"),
        ('{"day": {"dollars": "5"}}', "setting budgets.day.dollars must be a number of at least 0, not '5'"),
        ('{"day": {"dollars": true}}', "setting budgets.day.dollars must be a number of at least 0, not True"),
        ('{"day": {"dollars": 1e999}}', "setting budgets.day.dollars must be a number of at least 0, not inf"),
        ('{"week": {"dollars": 5}}', "setting budgets.week does not exist (it is set to {'dollars': 5})"),
        ('{"day": {"euros": 5}}', "setting budgets.day.euros does not exist (it is set to 5)"),
        ('{"day": 5}', "setting budgets.day must be an object, not 5"),
        ('{"by": {"x": {"week": {}}}}', "setting budgets.by.x.week does not exist"),
        (
            '{"unknownPrice": "guess"}',
            "setting budgets.unknownPrice must be one of ignore, tokens, refuse, not 'guess'",
        ),
        ("5", "setting budgets must be an object, not 5"),
        ('{"day": {"dollars": NaN}}', "NaN is not JSON, in a file that may set budgets"),
        ('{"day": {', "in a file that may set budgets"),
    ],
)
def test_what_makes_no_sense_is_refused_with_its_place(files: tuple[Path, Path], text: str, message: str) -> None:
    files[0].write_text(f'{{"budgets": {text}}}')

    with pytest.raises(UserError) as refused:
        read(files)

    assert message in str(refused.value)
    assert str(files[0]) in str(refused.value)


def test_the_place_of_a_mistake_that_a_stronger_file_hides_is_its_own(files: tuple[Path, Path]) -> None:
    files[0].write_text('{"budgets": {"day": {"dollars": -1}}}')
    files[1].write_text('{"budgets": {"day": {"dollars": 2}}}')

    with pytest.raises(UserError, match="not -1") as refused:
        read(files)

    assert str(files[0]) in str(refused.value)


def test_a_project_makes_limits_stricter_and_never_looser(files: tuple[Path, Path]) -> None:
    files[0].write_text(
        '{"budgets": {"day": {"dollars": 5, "tokens": 9}, "run": {"requests": 3}, "unknownPrice": "refuse"}}'
    )
    project = {"day": {"dollars": 50, "tokens": 4}, "run": {"requests": None}, "total": {"dollars": 100}}
    files[1].write_text(json.dumps({"budgets": {**project, "unknownPrice": "ignore"}}))

    found = read(files)

    assert amounts(found) == {
        "budgets.day.dollars": 5,
        "budgets.day.tokens": 4,
        "budgets.run.requests": 3,
        "budgets.total.dollars": 100,
    }
    assert found.unknown_price == "refuse"


@pytest.mark.parametrize(("enabled", "expected"), [(True, {"guardrails.limits.run.requests": 3}), (False, {})])
def test_limits_of_the_guard_hold_while_it_is_enabled(
    files: tuple[Path, Path], enabled: bool, expected: dict[str, float]
) -> None:
    limits = {"run": {"requests": 3, "toolCallsPerMinute": 60}}
    files[0].write_text(json.dumps({"guardrails": {"enabled": enabled, "limits": limits}}))

    assert amounts(read(files)) == expected


@pytest.mark.parametrize(("text", "seconds"), [("90", 90), ("90s", 90), ("10m", 600), ("1.5h", 5400), ("1h1m1s", 3661)])
def test_times_are_read(files: tuple[Path, Path], text: str, seconds: float) -> None:
    assert amounts(read(files, max_time=text)) == {"--max-time": seconds}


@given(st.recursive(st.none() | st.booleans() | st.floats() | st.text(), lambda inner: st.dictionaries(
    st.sampled_from(["run", "day", "by", "agent:x", "dollars", "tokens", "unknownPrice", "x"]), inner, max_size=3
) | st.lists(inner, max_size=2)))  # fmt: skip
def test_any_value_is_read_or_refused(value: Any) -> None:
    settings = Settings.in_memory({"budgets": value})

    try:
        found = read_budgets(settings, lambda _: None)
    except UserError:
        return

    assert all(limit.amount >= 0 for limit in found.limits)
