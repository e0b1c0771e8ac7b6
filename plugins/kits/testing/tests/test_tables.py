"""``for_each``: one test for a table, which reports each row that fails."""

from __future__ import annotations

import pytest

from pi_testing import for_each

OPTIONS = ("-p", "no:cacheprovider", "-o", "asyncio_default_fixture_loop_scope=function")


def test_every_row_that_fails_is_reported_and_no_other(pytester):
    pytester.makepyfile(
        """
        from pi_testing import for_each

        @for_each(("text", "length"), [("one", 3), ("two", 4), ("three", 5), ("four", 7)])
        def test_length(text, length):
            assert len(text) == length
        """
    )

    result = pytester.runpytest_inprocess("-n0", *OPTIONS)

    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(
        [
            "*2 of 4 rows failed:",
            "*text='two', length=4",
            "*text='four', length=7",
            "*assert 3 == 4*",
            "*assert 4 == 7*",
        ]
    )
    result.stdout.no_fnmatch_line("*'three'*5*")


def test_a_table_that_holds_passes_once_and_gives_fixtures_to_every_row(pytester):
    pytester.makepyfile(
        """
        import pytest
        from pi_testing import for_each

        SEEN = []

        @pytest.fixture
        def seen():
            return SEEN

        @for_each("number", [1, 2])
        @for_each("letter, more", ["ab", "cd"])
        def test_rows(seen, number, letter, more):
            seen.append((number, letter, more))

        class TestInAClass:
            @for_each("number", [3])
            def test_rows(self, number, seen):
                seen.append(number)

        def test_all_were_called():
            assert SEEN == [(1, "a", "b"), (1, "c", "d"), (2, "a", "b"), (2, "c", "d"), 3]
        """
    )

    pytester.runpytest_inprocess("-n0", *OPTIONS).assert_outcomes(passed=3)


async def test_a_coroutine_function_is_awaited_for_every_row():
    awaited = []

    @for_each("row", [1, 2])
    async def test(row):
        awaited.append(row)
        if row == 1:
            pytest.fail("the first")

    with pytest.raises(BaseExceptionGroup, match=r"1 of 2 rows failed:\n  row=1"):
        await test()
    assert awaited == [1, 2]


def test_an_empty_table_is_a_mistake():
    with pytest.raises(ValueError, match="has no rows"):
        for_each("row", [])


def test_a_row_with_too_few_values_is_a_mistake():
    with pytest.raises(ValueError, match="shorter"):
        for_each(("a", "b"), [(1, 2), (3,)])
