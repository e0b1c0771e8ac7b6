"""Sums of a conversation after prompts, forks, moves in the tree, compactions and reloads are the sums made afresh."""

from __future__ import annotations

import random

import pytest

from pi_core import context_tokens
from pi_core.conversation.bill import Bill
from pi_core.session.stats import StatsCounter
from pi_core.session.tree import SessionTree
from pi_hookspecs import AssistantMessage, Compaction, Usage, UserError, hookimpl
from pi_testing import text, usage


class Policy:
    """Compacts to one sentence, keeping the last message."""

    @hookimpl
    def register_services(self):
        return [self]

    async def compact(self, request, ctx):
        last = [entry for entry in request.entries if entry.type == "message"][-1]
        return Compaction(summary="It was about zebras.", first_kept_entry_id=last.id, tokens_before=100)


def breaks_afresh(session, first):
    """Return the breaks of the prompt cache, with their dollars, in the entries from a number on."""
    found = {}
    for entry in list(session.session_manager.entries())[first:]:
        if entry.type == "custom" and entry.data["break"]["kind"] == "avoidable":
            row = found.setdefault(entry.data["break"]["plugin"], {"cacheBreaks": 0, "cacheDollars": 0})
            row["cacheBreaks"] += 1
            row["cacheDollars"] += entry.data["break"]["dollars"]
    return found


def sums(session, bill):
    rows = {
        plugin: {name: row[name] for name in row if name.startswith("cache")} for plugin, row in bill.rows().items()
    }
    return {
        "tokens": session.parts.usage.context_tokens(),
        "total": session.usage,
        "stats": session.session_manager.stats(),
        "breaks": {plugin: row for plugin, row in rows.items() if row},
    }


def sums_afresh(session, first):
    manager, messages = session.session_manager, session.messages
    return {
        "tokens": context_tokens(messages),
        "total": sum((each.usage for each in messages if isinstance(each, AssistantMessage)), Usage()),
        "stats": StatsCounter(SessionTree(list(manager.entries()))).count(manager.id, manager.file),
        "breaks": breaks_afresh(session, first),
    }


async def act(session, script, chance, number):
    """Do one random thing; return whether another conversation began."""
    entries = session.session_manager.entries()
    users = [each.id for each in entries.of_type("message") if each.message.role == "user"]
    match chance.choice(("prompt", "prompt", "prompt", "break", "navigate", "fork", "compact", "reload", "name")):
        case "prompt":
            tokens = chance.choice((0, 7, 100))
            script.turn(text(f"answer {number}"), usage(input=tokens, output=tokens) if tokens else text("!"))
            await session.prompt(f"question {number}")
        case "break":
            found = {"kind": chance.choice(("avoidable", "expected")), "plugin": "clock", "dollars": 0.25}
            session.session_manager.append_custom_entry("cache-lint", {"break": found})
        case "navigate" if users:
            await session.navigate_tree(chance.choice(users))
        case "fork" if users:
            await session.fork(chance.choice(users), "at")
            return True
        case "compact" if len(session.messages) > 1:
            try:
                await session.compact()
            except UserError:
                assert session.session_manager.get_leaf_entry().type == "compaction"
        case "reload":
            await session.reload()
        case "name":
            session.session_manager.append_session_info(f"name {number}")
    return False


@pytest.mark.parametrize("seed", range(6))
async def test_kept_sums_are_the_sums_made_afresh(session_of, script, seed):
    chance, session = random.Random(seed), session_of(Policy())  # noqa: S311 - no secret
    bill, first = Bill(session), 0
    for number in range(40):
        if await act(session, script, chance, number):
            bill.begin()
            first = len(session.session_manager.entries())
            bill.started = "2999"  # not the second in which the copied entries were made
            bill.rows()

        assert sums(session, bill) == sums_afresh(session, first)


async def test_breaks_of_one_conversation_are_not_taken_off_the_next(session_of, script):
    session = session_of(Policy())
    bill = Bill(session)
    found = {"kind": "avoidable", "plugin": "clock", "dollars": 0.25}
    for _ in range(3):
        session.session_manager.append_custom_entry("cache-lint", {"break": found})
    assert bill.rows()["clock"] == {"cacheBreaks": 3, "cacheDollars": 0.75}

    await session.new_session()
    bill.begin()
    session.session_manager.append_custom_entry("cache-lint", {"break": found})

    assert bill.rows()["clock"] == {"cacheBreaks": 1, "cacheDollars": 0.25}


@pytest.mark.parametrize("kept", ["cache-lint", "acme"])
@pytest.mark.parametrize(("dollars", "sum_of_them"), [(0.5, 1.0), (None, 0), ("much", 0)])
async def test_breaks_count_whichever_plugin_records_them(session_of, kept, dollars, sum_of_them):
    session = session_of(Policy())
    bill = Bill(session)
    for kind in ("avoidable", "expected", "avoidable"):
        found = {"kind": kind, "plugin": "clock", "dollars": dollars}
        session.session_manager.append_custom_entry(kept, {"break": found})

    row = bill.rows()["clock"]

    assert (row["cacheBreaks"], row.get("cacheDollars", 0)) == (2, sum_of_them)


async def test_the_bill_reads_only_entries_that_are_new(session_of, monkeypatch):
    session = session_of(Policy())
    bill, read, entry = Bill(session), [], SessionTree.entry
    monkeypatch.setattr(SessionTree, "entry", lambda tree, number: (read.append(number), entry(tree, number))[1])
    for number in range(50):
        session.session_manager.append_custom_entry("cache-lint", {"break": {"kind": "avoidable", "plugin": "clock"}})
        read.clear()
        bill.rows()
        assert len(read) == 1 or number == 0  # the first time it looks for the first entry of this bill
