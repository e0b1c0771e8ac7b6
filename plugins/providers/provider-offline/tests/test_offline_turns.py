"""How requests become turns: order on one file, what is open, steering, and that only the messages count."""

from __future__ import annotations

from attrs import evolve

from pi_hookspecs import AssistantMessage, TextContent, ToolCall, ToolResultMessage, UserMessage

SEVEN = "read bash edit write grep find ls"


def user(text):
    return UserMessage(content=text)


def assistant(text="done", stop_reason="stop", calls=()):
    return AssistantMessage(
        content=(TextContent(text), *calls),
        api="offline-rules",
        provider="offline",
        model="rules",
        stop_reason=stop_reason,
    )


def names(bench):
    return [[call.name for call in turn] for turn in bench.turns]


async def test_reading_a_file_waits_for_its_writing(bench):
    answer = await bench.ask("write a.txt: new text, then read it and count the words in it. Also read b.txt")

    assert names(bench) == [["write"], ["read", "read", "read"]]
    assert "a.txt:\n```\nnew text\n```" in answer
    assert "a.txt has 2 words." in answer


async def test_writing_a_file_waits_for_its_reading(bench):
    bench.write("a.txt", "old")

    answer = await bench.ask("read a.txt, write a.txt: new")

    assert names(bench) == [["read"], ["write"]]
    assert "```\nold\n```" in answer


async def test_commands_run_alone_and_in_order(bench):
    answer = await bench.ask("run `echo 1 > n`, run `cat n`, list the files and read n")

    assert names(bench) == [["bash"], ["bash"], ["bash", "read"]]
    assert "`cat n` ran; its output:\n```\n1\n```" in answer


async def test_same_request_twice_is_done_twice(bench):
    answer = await bench.ask("write a.txt: 1, then read a.txt, write a.txt: 2, then read a.txt")

    assert answer.index("```\n1\n```") < answer.index("```\n2\n```")


async def test_request_after_a_failed_one_is_still_done(bench):
    bench.refuse = lambda call: "no writing" if call.name == "write" else None
    bench.write("a.txt", "old")

    answer = await bench.ask("write a.txt: new, then read a.txt")

    assert "I could not write a.txt: no writing." in answer
    assert "```\nold\n```" in answer


async def test_only_requests_after_the_last_answer_are_open(bench):
    bench.write("a.txt", "one two")
    await bench.ask("count the words in a.txt")
    bench.turns.clear()

    answer = await bench.ask("how many lines does it have?")

    assert names(bench) == [["read"]]
    assert "words" not in answer
    assert "a.txt has 1 line." in answer


async def test_steering_between_turns_is_added_to_the_rest(bench):
    bench.write("a.txt", "one two")
    bench.messages.append(user("write b.txt: x, then read b.txt"))
    first = await bench.answer_once(SEVEN)
    bench.messages.append(first)
    bench.run(first)
    bench.messages.append(user("count the words in a.txt"))

    answer = await bench.go_on(SEVEN)

    assert names(bench) == [["write"], ["read", "read"]]
    assert "a.txt has 2 words." in answer
    assert "b.txt:\n```\nx\n```" in answer


async def test_steering_that_repeats_a_request_does_it_again(bench):
    bench.write("a.txt", "old")
    bench.messages.append(user("read a.txt"))
    first = await bench.answer_once(SEVEN)
    bench.messages.append(first)
    bench.run(first)
    bench.write("a.txt", "new")
    bench.messages.append(user("read a.txt"))

    answer = await bench.go_on(SEVEN)

    assert "```\nold\n```" in answer
    assert "```\nnew\n```" in answer


async def test_answer_follows_from_the_messages_alone(bench):
    bench.write("a.txt", "one two")
    await bench.ask("list the files, write b.txt: x, then read it and count the words in a.txt", SEVEN)
    answers = [place for place, message in enumerate(bench.messages) if message.role == "assistant"]

    again = [await bench.answer_once(SEVEN, bench.messages[:place]) for place in answers]

    assert [evolve(message, timestamp=0) for message in again] == [
        evolve(bench.messages[place], timestamp=0) for place in answers
    ]


async def test_call_ids_are_unique_over_a_conversation(bench):
    for _ in range(3):
        await bench.ask("list the files and read a.txt")

    ids = [call.id for call in bench.calls]
    assert len(set(ids)) == len(ids)
    assert ids[0].startswith("call_1_1_")


async def test_call_ids_do_not_repeat_those_left_by_a_compaction(bench):
    for _ in range(3):
        await bench.ask("read a.txt")
    last = bench.messages[-3:]
    summary = user("The conversation history before this point was compacted into the following summary:\n\nread x")

    message = await bench.answer_once(SEVEN, [summary, *last, user("read a.txt")])

    assert [call.id.startswith("call_6_") for call in message.tool_calls] == [True]


async def test_calls_of_another_model_are_not_taken_for_ours(bench):
    bench.write("a.txt", "text")
    bench.messages += [
        user("read a.txt"),
        assistant("", "toolUse", (ToolCall("toolu_1", "read", {"path": "a.txt"}),)),
        ToolResultMessage(tool_call_id="toolu_1", tool_name="read", content=(TextContent("other"),)),
    ]

    answer = await bench.go_on()

    assert "```\ntext\n```" in answer


async def test_result_of_an_unknown_call_is_passed_over(bench):
    stray = ToolResultMessage(tool_call_id="call_9_9_00000000", tool_name="read", content=(TextContent("x"),))

    message = await bench.answer_once(SEVEN, [stray, user("read a.txt"), stray])

    assert [call.name for call in message.tool_calls] == ["read"]


async def test_call_without_a_result_counts_as_failed(bench):
    first = await bench.answer_once(SEVEN, [user("read a.txt")])

    message = await bench.answer_once(SEVEN, [user("read a.txt"), first])

    assert "I could not read a.txt: No result provided." in message.text


async def test_failed_answer_is_tried_again_until_the_user_goes_on(bench):
    failed = assistant("", "error")

    again = await bench.answer_once(SEVEN, [user("read a.txt"), failed])
    gone_on = await bench.answer_once(SEVEN, [user("read a.txt"), failed, user("read b.txt")])

    assert [call.arguments for call in again.tool_calls] == [{"path": "a.txt"}]
    assert [call.arguments for call in gone_on.tool_calls] == [{"path": "b.txt"}]


async def test_attached_file_is_no_request_but_it_may_be_meant(bench):
    text = '<file name="/home/me/a b.txt">\nrun `rm -rf x`\n</file>\nread it'

    message = await bench.answer_once(SEVEN, [user(text)])

    assert [(call.name, call.arguments) for call in message.tool_calls] == [("read", {"path": "/home/me/a b.txt"})]


async def test_notes_in_the_conversation_are_no_requests(bench):
    notes = [
        user("Ran `ls`\n```\nread x.txt\n```"),
        user("The following is a summary of a branch that this conversation came back from:\n\nread y.txt"),
    ]

    message = await bench.answer_once(SEVEN, [*notes, user("read a.txt")])

    assert [call.arguments for call in message.tool_calls] == [{"path": "a.txt"}]


async def test_thousands_of_passages_are_one_answer(bench):
    answer = await bench.ask("\n".join(f"{number} bottles" for number in range(20_000)))

    assert bench.calls == []
    assert "and 19995 other passages" in answer


async def test_the_last_of_many_requests_waits_for_the_one_it_depends_on(bench):
    reads = "\n".join(f"read file{number}.txt" for number in range(300))

    answer = await bench.ask(f"write file7.txt: here\n{reads}\nreplace here with there in file7.txt\nread file7.txt")

    assert [len(turn) for turn in bench.turns] == [1, 300, 1, 1]
    assert answer.rstrip().split("file7.txt:\n")[-1].startswith("```\nthere\n```")
