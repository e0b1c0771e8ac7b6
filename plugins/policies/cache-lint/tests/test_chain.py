"""The hash chain of a request goes on from that of the request before, and is the one that is made afresh."""

from __future__ import annotations

import copy

from hypothesis import given
from hypothesis import strategies as st

from pi_cache_lint import chain
from pi_cache_lint.chain import Digests, chain_of

WORDS = st.sampled_from(("", "one", "two", "é"))
MARKER = {"type": "ephemeral"}
BLOCKS = st.one_of(
    WORDS,
    st.builds(lambda text: {"type": "text", "text": text}, WORDS),
    st.builds(lambda text: {"type": "text", "text": text, "cache_control": MARKER}, WORDS),
    st.builds(lambda text: {"type": "tool_use", "id": "c", "name": "ls", "input": {"path": text}}, WORDS),
    st.just({"cachePoint": {"type": "default"}}),
)
CONTENT = st.one_of(st.none(), WORDS, st.lists(BLOCKS, max_size=3))
ROLES = st.sampled_from(("user", "assistant", "system", "developer", "tool"))
MESSAGES = st.one_of(
    WORDS,
    st.builds(lambda role, content: {"role": role, "content": content}, ROLES, CONTENT),
    st.builds(lambda role, content: {"role": role, "parts": content}, ROLES, CONTENT),
    st.builds(lambda text: {"type": "function_call_output", "call_id": "c", "output": text}, WORDS),
)


class Number:
    """An object in a payload that is no plain data and can be changed in place."""

    def __init__(self, value):
        self.value = value

    def __repr__(self):
        return f"Number({self.value})"


def change_block(message, data):
    """Change the last block of a message in place, or give it one that is no plain data."""
    for each in message.values() if isinstance(message, dict) else ():
        if isinstance(each, list) and each:
            each[-1] = data.draw(BLOCKS)
        elif isinstance(each, list):
            each.append(Number(data.draw(st.integers(0, 2))))


def links(made):
    return made.parameters, made.tools, made.system, made.messages, made.markers, made.lifetime


@given(st.data(), st.sampled_from(("messages", "input", "contents")))
def test_each_request_of_any_history_has_the_chain_that_is_made_afresh(data, name):
    digests, messages = Digests(), []
    for _ in range(data.draw(st.integers(1, 5))):
        match data.draw(st.sampled_from(("append", "change in place", "change a block", "remove", "insert", "again"))):
            case "append":
                messages += data.draw(st.lists(MESSAGES, max_size=3))
            case "change in place" if messages:
                one = data.draw(st.sampled_from(messages))
                if isinstance(one, dict):
                    one["content"] = data.draw(CONTENT)
            case "change a block" if messages:
                change_block(data.draw(st.sampled_from(messages)), data)
            case "remove" if messages:
                del messages[data.draw(st.integers(0, len(messages) - 1))]
            case "insert":
                messages.insert(data.draw(st.integers(0, len(messages))), data.draw(MESSAGES))
        payload = {"model": "m", "system": data.draw(CONTENT), name: messages}

        assert links(chain_of(payload, digests, str)) == links(chain_of(copy.deepcopy(payload), Digests(), str))


def test_only_messages_that_the_last_request_did_not_have_are_taken_apart(monkeypatch):
    messages = [{"role": "user", "content": f"question {number}"} for number in range(100)]
    digests, taken, of = Digests(), [], chain._role_and_blocks
    monkeypatch.setattr(chain, "_role_and_blocks", lambda message: (taken.append(message), of(message))[1])
    chain_of({"messages": messages}, digests, str)
    taken.clear()

    changed = [*copy.deepcopy(messages[:50]), {"role": "user", "content": "changed"}, *messages[51:], messages[0]]
    chain_of({"messages": changed}, digests, str)

    assert taken == [changed[50]]


def test_messages_that_are_the_same_objects_are_not_even_hashed(monkeypatch):
    hashed, raw = [], chain._bytes
    monkeypatch.setattr(chain, "_bytes", lambda value: (hashed.append(value), raw(value))[1])
    digests, messages = Digests(), []
    for number in range(50):
        new = [{"role": "user", "content": [{"type": "text", "text": f"{each} of {number}"}]} for each in "ab"]
        messages += new
        hashed.clear()
        chain_of({"messages": [*messages]}, digests, str)
        assert [each for each in hashed if isinstance(each, dict)] == new


def test_an_object_that_is_no_plain_data_is_looked_at_each_time():
    number, digests = Number(1), Digests()
    payload = {"messages": [{"role": "user", "content": "a"}, {"role": "user", "content": [number]}]}
    first = chain_of(payload, digests, str)
    number.value = 2

    assert links(chain_of(payload, digests, str)) != links(first)
    assert links(chain_of(payload, digests, str)) == links(chain_of(payload, Digests(), str))
