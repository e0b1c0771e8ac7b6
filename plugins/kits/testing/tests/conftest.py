"""What the tests of the contract suites share."""

from __future__ import annotations

import re
from collections import defaultdict

import pytest

ARGUMENTS = (
    *("-p", "no:cacheprovider", "-p", "no:xdist", "-p", "no:hypothesispytest", "-W", "error", "-q"),
    *("-o", "asyncio_default_fixture_loop_scope=function"),
)


@pytest.fixture
def failing_rows(pytester):
    """Run a module of tests in a process of its own; returns, by class, the tests that fail, and the result."""

    def run(text, *arguments):
        pytester.makepyfile(test_mine=text)
        result = pytester.runpytest_subprocess(*ARGUMENTS, *arguments)
        failed = defaultdict(set)
        for kind, row in re.findall(r"^(?:FAILED|ERROR) \S+?::(\w+)::(\w+)", result.stdout.str(), re.MULTILINE):
            failed[kind].add(row)
        return failed, result

    return run
