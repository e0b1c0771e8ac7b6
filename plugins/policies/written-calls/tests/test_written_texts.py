"""Texts of models in every form and every place: what means a call is one, and nothing else ever runs."""

# ruff: noqa: RUF001 - the marks of several models

from __future__ import annotations

import json
import tomllib
from importlib.resources import files

import jsonschema
import pytest
from attrs import evolve
from hypothesis import given
from hypothesis import strategies as st

from pi_hookspecs import (
    Context,
    MessageBuilder,
    Model,
    StreamOptions,
    TextContent,
    Tool,
    ToolResultMessage,
    UserMessage,
)
from pi_provider_kit import known_call_forms, read_calls
from pi_testing import for_each
from pi_written_calls.holding import WrittenCalls

LOCAL = Model(id="m", name="m", api="a", provider="p", base_url="http://127.0.0.1:1/v1")
FAR = Model(id="m", name="m", api="a", provider="p", base_url="https://models.example.com/v1")


class NoSettings:
    """Settings of which none is set."""

    def __init__(self, **values):
        self.values = values

    def get_str(self, key, default):
        return self.values.get(key, default)


def make_tool(name, *required, **optional):
    properties = {key: {"type": "string"} for key in required} | {key: {"type": kind} for key, kind in optional.items()}
    schema = {"type": "object", "properties": properties, "required": list(required)}
    return Tool(name=name, description="d", parameters=schema, execute=lambda *_, **__: None)


TOOLS = (make_tool("find", "pattern", limit="integer"), make_tool("note", "text"))


def chunks_of(text, size):
    return [text[at : at + size] for at in range(0, len(text), size)]


class Answer:
    """A streamed answer as a front end gets it."""

    def __init__(self, events):
        self.events = events
        self.message = events[-1].message if events[-1].type == "done" else events[-1].error
        self.calls = [(call.name, call.arguments) for call in self.message.tool_calls]
        self.shown = "".join(event.delta for event in events if event.type == "text_delta")
        self.text = self.message.text


def read_answer(
    text, *, size=7, model=LOCAL, messages=(), tools=TOOLS, settings=None, stop="stop", thinking="", **options
):
    """Stream a text through the filter in pieces, and return what comes out."""
    builder = MessageBuilder(model)
    events = [builder.start()]
    if thinking:
        started = builder.thinking_start()
        events += [
            started,
            builder.thinking(started.content_index, thinking),
            builder.thinking_end(started.content_index),
        ]
    started = builder.text_start()
    events.append(started)
    events += [builder.text(started.content_index, piece) for piece in chunks_of(text, size)]
    events += [builder.text_end(started.content_index), builder.done(stop)]
    context = Context(messages=tuple(messages), tools=tuple(tools))
    change = WrittenCalls().filter_answer(model, context, StreamOptions(**options), settings or NoSettings())
    return Answer(events if change is None else [changed for event in events for changed in change(event)])


def plain(arguments):
    return json.dumps(arguments)


def parameters(arguments, tag="parameter", style="="):
    quoted = '{tag} name="{key}"' if style == "name" else "{tag}={key}"
    return "".join(f"<{quoted.format(tag=tag, key=key)}>\n{value}\n</{tag}>\n" for key, value in arguments.items())


def python(name, arguments):
    return f"{name}({', '.join(f'{key}={value!r}' for key, value in arguments.items())})"


def braces(name, arguments, quote):
    return f"call:{name}{{{','.join(f'{key}:{quote}{value}{quote}' for key, value in arguments.items())}}}"


def pairs(arguments):
    return "".join(f"<arg_key>{key}</arg_key>\n<arg_value>{value}</arg_value>\n" for key, value in arguments.items())


def named(name, arguments, key="arguments"):
    return json.dumps({"name": name, key: arguments})


FORMS = {
    "hermes": lambda n, a: f"<tool_call>\n{named(n, a)}\n</tool_call>",
    "hermes without its end": lambda n, a: f"<tool_call>\n{named(n, a)}\n",
    "hermes with half of its end": lambda n, a: f"<tool_call>\n{named(n, a)}\n</tool_",
    "hermes with a string": lambda n, a: f"<tool_call>{named(n, plain(a))}</tool_call>",
    "granite": lambda n, a: f"<tool_call>[{named(n, a)}]",
    "granite 3.0": lambda n, a: f"<|tool_call|>[{named(n, a)}]",
    "qwen coder": lambda n, a: f"<tool_call>\n<function={n}>\n{parameters(a)}</function>\n</tool_call>",
    "qwen coder without the wrapper": lambda n, a: f"<function={n}>\n{parameters(a)}</function>\n</tool_call>",
    "seed": lambda n, a: f"<seed:tool_call>\n<function={n}>\n{parameters(a)}</function>\n</seed:tool_call>",
    "invoke": lambda n, a: f'<invoke name="{n}">\n{parameters(a, style="name")}</invoke>',
    "function_calls": lambda n, a: f"<function_calls>\n{FORMS['invoke'](n, a)}\n</function_calls>",
    "minimax": lambda n, a: f"<minimax:tool_call>\n{FORMS['invoke'](n, a)}\n</minimax:tool_call>",
    "dots": lambda n, a: f"<dots_function_call>\n{FORMS['invoke'](n, a)}\n</dots_function_call>",
    "dsml": lambda n, a: FORMS["function_calls"](n, a).replace("<", "<｜DSML｜").replace("<｜DSML｜/", "</｜DSML｜"),
    "deepseek 3": lambda n, a: (
        f"<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>function<｜tool▁sep｜>{n}\n```json\n{plain(a)}\n```"
        "<｜tool▁call▁end｜><｜tool▁calls▁end｜>"
    ),
    "deepseek 3.1": lambda n, a: (
        f"<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>{n}<｜tool▁sep｜>{plain(a)}<｜tool▁call▁end｜><｜tool▁calls▁end｜>"
    ),
    "kimi": lambda n, a: (
        f"<|tool_calls_section_begin|><|tool_call_begin|>functions.{n}:0<|tool_call_argument_begin|>{plain(a)}"
        "<|tool_call_end|><|tool_calls_section_end|>"
    ),
    "kimi without its first marks": lambda n, a: f"functions.{n}:0 <|tool_call_argument_begin|> {plain(a)}",
    "glm": lambda n, a: f"<tool_call>{n}\n{pairs(a)}</tool_call>",
    "hunyuan": lambda n, a: f"<tool_calls>\n<tool_call>{n}<tool_sep>\n{pairs(a)}</tool_call>\n</tool_calls>",
    "mistral": lambda n, a: f"[TOOL_CALLS] [{named(n, a)}]",
    "mistral with names": lambda n, a: f"[TOOL_CALLS]{n}[ARGS]{plain(a)}",
    "llama tag": lambda n, a: f"<|python_tag|>{named(n, a, 'parameters')}",
    "llama": lambda n, a: named(n, a, "parameters"),
    "llama 4 as json": lambda n, a: json.dumps({"type": "function", "name": n, "parameters": a}),
    "python": lambda n, a: f"[{python(n, a)}]",
    "olmo": lambda n, a: f"<function_calls>{python(n, a)}</function_calls>",
    "lfm": lambda n, a: f"<|tool_call_start|>[{python(n, a)}]<|tool_call_end|>",
    "harmony": lambda n, a: f"<|channel|>commentary to=functions.{n} <|constrain|>json<|message|>{plain(a)}<|call|>",
    "harmony without marks": lambda n, a: f"commentary to={n} code {plain(a)}",
    "gemma 4": lambda n, a: f"<|tool_call>{braces(n, a, chr(60) + '|' + chr(34) + '|' + chr(62))}<tool_call|>",
    "function gemma": lambda n, a: f"<start_function_call>{braces(n, a, '<escape>')}<end_function_call>",
    "gemma 3": lambda n, a: f"```tool_code\n{python(n, a)}\n```",
    "functools": lambda n, a: f"functools[{named(n, a)}]",
    "cohere": lambda n, a: (
        f"<|START_ACTION|>[\n{json.dumps({'tool_call_id': '0', 'tool_name': n, 'parameters': a})}\n]<|END_ACTION|>"
    ),
    "nemotron": lambda n, a: f"<TOOLCALL>[{named(n, a)}]</TOOLCALL>",
    "apriel": lambda n, a: f"<tool_calls>[{named(n, a)}]</tool_calls>",
    "apertus": lambda n, a: f"<|tools_prefix|>[{plain({n: a})}]<|tools_suffix|>",
    "internlm": lambda n, a: f"<|action_start|> <|plugin|>\n{named(n, a, 'parameters')}<|action_end|>",
    "step 3": lambda n, a: (
        f"<｜tool_calls_begin｜>\n<｜tool_call_begin｜>function<｜tool_sep｜>"
        f"{FORMS['invoke'](n, a).replace('<', '<steptml:').replace('<steptml:/', '</steptml:')}"
        "<｜tool_call_end｜>\n<｜tool_calls_end｜>"
    ),
    "minicpm": lambda n, a: f'<function name="{n}">{parameters(a, "param", "name")}</function>',
    "functionary 3.1": lambda n, a: f"<function={n}>{plain(a)}</function>",
    "functionary 3.2": lambda n, a: f">>>{n}\n{plain(a)}",
    "generic": lambda n, a: json.dumps({"tool_call": {"name": n, "arguments": a}}),
    "bare": named,
    "fenced": lambda n, a: f"```json\n{named(n, a)}\n```",
    "fenced without a label": lambda n, a: f"```\n{named(n, a)}\n```",
    "tools": lambda n, a: f"<tools>\n{named(n, a)}\n</tools>",
    "openai": lambda n, a: json.dumps(
        {"tool_calls": [{"type": "function", "function": {"name": n, "arguments": plain(a)}}]}
    ),
    "elements": lambda n, a: f"<{n}>\n{''.join(f'<{key}>{value}</{key}>' for key, value in a.items())}\n</{n}>",
    "gemini": lambda n, a: f"<{braces(n, a, '').replace('call:', 'call:default_api:')}/>",
    "brackets": lambda n, a: f"[{n}]\n{plain(a)}\n[/{n}]",
}
"""How a model writes one call; a function of the tool's name and the arguments."""

SURE = (
    *("granite 3.0", "seed", "minimax", "dots", "dsml", "deepseek 3", "deepseek 3.1", "kimi", "mistral"),
    *("mistral with names", "llama tag", "lfm", "harmony", "gemma 4", "function gemma", "cohere", "apertus"),
    *("internlm", "step 3"),
)
"""The forms whose marks occur in no other text."""

ALONE = (*("llama", "llama 4 as json", "python", "generic", "bare", "openai"),)
"""The forms without marks, which are a call only as the whole answer."""


# What is read

WORDS = st.text(st.sampled_from("ab .,:/*_-éß"), min_size=1, max_size=12).map(str.strip).filter(bool)

LEADS = (
    "",
    "I will look.\n",
    "Let me check the files.\n\n",
    "To find the tests, I'll search for their names:\n\n",
    "Sure! First, I need to read the folder.\n\n",
    "The tests are in one folder. Now let's find them.\n",
)

PLACES = {lead: lead for lead in LEADS} | {"thinking": "<think>\nHm, <b>.\n</think>\n\n"}


def test_the_table_fits_its_schema():
    schema = json.loads(files("pi_provider_kit").joinpath("call_forms.schema.json").read_text(encoding="utf-8"))

    table = tomllib.loads(files("pi_provider_kit").joinpath("call_forms.toml").read_text(encoding="utf-8"))

    jsonschema.validate(table, schema)


def test_every_row_of_the_table_is_written_in_these_tests():

    tools = {"find": {"properties": {"pattern": {"type": "string"}}}}
    texts = [write("find", {"pattern": "x"}) for write in FORMS.values()]
    unread = [form.id for form in known_call_forms() if not any(read_calls(text, tools, [form]) for text in texts)]

    assert unread == []


@given(st.sampled_from(list(FORMS)), st.sampled_from(LEADS), WORDS, st.integers(1, 30))
def test_every_form_is_read_after_every_announcement_however_it_is_cut(form, lead, pattern, size):
    if lead and form in ALONE:
        lead = ""
    text = lead + FORMS[form]("find", {"pattern": pattern})
    answer = read_answer(text, size=size)

    assert answer.calls == [("find", {"pattern": pattern})]
    assert answer.message.stop_reason == "toolUse"
    assert answer.text.strip() == answer.shown.strip() == lead.strip()


@for_each("form", list(FORMS))
def test_every_form_is_read_in_every_place(form):
    text = FORMS[form]("find", {"pattern": "*.py"})
    for lead in LEADS if form not in ALONE else ("",):
        for size in (1, 2, 3, 5, 1000):
            answer = read_answer(lead + text, size=size)
            assert answer.calls == [("find", {"pattern": "*.py"})], (lead, size)
            assert answer.text.strip() == answer.shown.strip() == lead.strip()
    for around in ("\n{}\n", "  {}", "<think>Hm.</think>{}", "<think>\nIs `<b>` one?\n</think>\n\n{}"):
        assert read_answer(around.format(text)).calls == [("find", {"pattern": "*.py"})], around
    assert read_answer(text, thinking="I search.").calls == [("find", {"pattern": "*.py"})]


@for_each("form", list(FORMS))
def test_only_unmistakable_marks_are_read_from_servers_elsewhere(form):
    answer = read_answer(FORMS[form]("find", {"pattern": "*.py"}), model=FAR)

    assert bool(answer.calls) == (form in SURE)
    assert answer.calls or answer.text == answer.shown == FORMS[form]("find", {"pattern": "*.py"})


@for_each(
    "form", ["hermes", "qwen coder", "invoke", "kimi", "glm", "bare", "mistral", "openai", "deepseek 3.1", "tools"]
)
def test_several_calls_are_read_in_their_order(form):
    first, second = FORMS[form]("find", {"pattern": "a"}), FORMS[form]("note", {"text": "b"})

    assert read_answer(f"{first}\n{second}").calls == [("find", {"pattern": "a"}), ("note", {"text": "b"})]


def test_a_line_that_says_that_the_model_waits_stays_and_stands_before_the_call():
    answer = read_answer(FORMS["hermes"]("find", {"pattern": "a"}) + "\nNow I wait for the result.")

    assert [block.type for block in answer.message.content] == ["text", "toolCall"]
    assert answer.text.strip() == answer.shown.strip() == "Now I wait for the result."


def test_values_get_the_types_of_the_tool():
    text = "<function=find>\n<parameter=pattern>\n12\n</parameter>\n<parameter=limit>\n5\n</parameter>\n</function>"

    assert read_answer(text).calls == [("find", {"pattern": "12", "limit": 5})]


@for_each(
    "text",
    [
        "<tool_call>{'name': 'find', 'arguments': {'pattern': 'a'}}</tool_call>",
        '<tool_call>{"name": "find", "arguments": {"pattern": "a",}}</tool_call>',
        '{"name": "find", "arguments": {"pattern": "a"}, }',
        '{"name": "functions.find", "arguments": {"pattern": "a"}}',
        '```tool_code\nprint(default_api.find(pattern="a"))\n```',
    ],
)
def test_harmless_mistakes_are_repaired(text):
    assert read_answer(text).calls == [("find", {"pattern": "a"})]


def test_a_value_may_have_tags_line_breaks_and_quotes():
    value = 'if a < b:\n    print("</b>", \'x\')\n\treturn "<tool_call>"'
    for form in ("hermes", "qwen coder", "bare", "invoke", "kimi", "function gemma", "deepseek 3"):
        assert read_answer(FORMS[form]("note", {"text": value})).calls == [("note", {"text": value})], form


@for_each("size", [1, 4, 1000])
def test_events_of_a_call_are_those_of_a_call_that_the_server_read(size):
    answer = read_answer("I will look.\n" + FORMS["hermes"]("find", {"pattern": "a"}), size=size)
    kinds = [event.type for event in answer.events if event.type != "text_delta"]

    assert kinds == ["start", "text_start", "text_end", "toolcall_start", "toolcall_delta", "toolcall_end", "done"]
    assert [event.content_index for event in answer.events if event.type.startswith("toolcall")] == [1, 1, 1]
    assert answer.message.content[1].id.startswith("written_")
    assert answer.events[-2].partial.stop_reason == "pending"


@pytest.mark.parametrize("mode", ["on", "ask"])
def test_the_setting_turns_reading_off(mode):

    text = FORMS["hermes"]("find", {"pattern": "a"})

    assert read_answer(text, settings=NoSettings(**{"writtenCalls.mode": mode})).calls
    assert not read_answer(text, settings=NoSettings(**{"writtenCalls.mode": "off"})).calls


def test_the_engine_inside_pi_counts_as_a_computer_of_the_user():
    embedded = evolve(LOCAL, api="llamacpp-embedded", base_url="")

    assert read_answer(FORMS["bare"]("find", {"pattern": "a"}), model=embedded).calls


# What never runs

TEXTS = (
    "Qwen writes a call like this:\n\n{}",
    "A call of this model:\n{}",
    "Here is an example of a call:\n\n{}",
    "For example, I will write\n{}",
    "I will not run this, because it deletes your files:\n{}",
    "I won't do that.\n\n{}",
    "I can't run this command.\n{}",
    "I refuse to run it:\n\n{}",
    "This would be the call, if you allow it:\n\n{}",
    "Let me know if I should run this:\n\n{}",
    "I could run the following call.\n{}",
    "I will run this only after you confirm it.\n{}",
    "The file ends with:\n{}",
    "The file says: I will look.\n{}",
    "The assistant wrote: Let me look.\n{}",
    "# Notes\nI will use this\n{}",
    "> {}",
    "- {}",
    "1. {}",
    "    {}",
    "Let me look.\n> {}",
    "Let me look.\n- {}",
    "Let me look.\n      {}",
    "The form is `{}`",
    "`{}`",
    '"{}"',
    "```xml\n{}\n```",
    "```text\n{}\n```",
    "~~~\n{}\n~~~",
    "Let me look.\n\n```python\n{}\n```",
    "Qwen writes:\n\n```\n{}\n```",
    "```\n{}\n```\nThat is the form.",
    "{}\n\nThat is how a call looks.",
    "{}\nI did not run it.",
    "{} is the call.",
    "{}\n\nWait for my confirmation before you run it.",
    "Look at {}",
    "Both are wrong.\n{}\n\nand\n\nLet me look.\n",
    "I show you the form now.\n{}",
    "I will explain the notation of this model.\n{}",
    "I will repeat the last line of the file.\n{}",
    "There are two forms.\n\nI will begin with the first.\n{}",
    "Der Aufruf sieht so aus:\n{}",
    "<details>\n{}\n</details>",
    "| form |\n| --- |\n| {} |",
    "<!-- {} -->",
)

SOME = ("hermes", "qwen coder", "invoke", "kimi", "mistral", "bare", "harmony")
"""Forms that every text is tried with; 46 texts make 322 rows."""

CALL = {"pattern": "*"}


@for_each("text", TEXTS)
def test_no_text_around_a_call_lets_it_run(text):
    for form in SOME:
        written = text.replace("{}", FORMS[form]("find", CALL))
        for size in (1, 6, 5000):
            answer = read_answer(written, size=size)
            assert (answer.calls, answer.text, answer.shown) == ([], written, written), (form, size)


@for_each("text", TEXTS)
def test_no_text_around_an_unmistakable_call_lets_it_run_elsewhere(text):
    written = text.replace("{}", FORMS["kimi"]("find", CALL))

    assert read_answer(written, model=FAR).calls == []


OTHERS = (
    "",
    "No call at all.",
    '{"name": "find", "version": "1.0.0"}',
    '{"name": "find", "version": "1.0.0", "arguments": {"pattern": "a"}}',
    '```json\n{"name": "find", "arguments": ["-l"]}\n```',
    '{"name": "find"}',
    '{"name": "find", "dependencies": {"pattern": "1"}}',
    '[{"name": "find"}, {"name": "note"}]',
    '{"find": {"pattern": "a"}}',
    '{"answer": 42}',
    "[1, 2]",
    "[find]",
    "[find](https://example.com)",
    "[note]\nTake the second.",
    "<find>me</find>",
    "<find><pattern>a</pattern>",
    "<find>\n<colour>a</colour>\n</find>",
    "find(pattern='a')",
    "```python\nfind(pattern='a')\n```",
    "```\nfind(pattern='a')\n```",
    "```sh\nfind . -name a\n```",
    ">>> find(pattern='a')",
    "<tool_calls are not calls>",
    "<function of x>",
    "<b>bold</b>",
    "commentary to=find is what gpt-oss writes",
    "functools.partial(find, pattern='a')",
    "{}",
    "{",
    "[",
    "<",
    "`",
    "```",
    "```json",
    "```json\n{}\n```",
)


@for_each("text", OTHERS)
def test_texts_that_resemble_calls_are_texts(text):
    for size in (1, 3, 5000):
        answer = read_answer(text, size=size)
        assert (answer.calls, answer.text, answer.shown) == ([], text, text), size


@for_each("form", list(FORMS))
def test_two_calls_of_which_one_is_wrong_run_neither(form):
    first, second = FORMS[form]("find", CALL), FORMS[form]("browse", {"url": "x"})

    assert read_answer(f"{first}\n{second}").calls == []
    assert read_answer(f"{second}\n{first}").calls == []
    assert read_answer(second).calls == []
    assert read_answer(FORMS[form]("find", {"path": "x"})).calls == []
    assert read_answer(FORMS[form]("find", {**CALL, "force": "yes"})).calls == []


@for_each(
    ("arguments", "mistake"),
    [
        ({}, "the argument 'pattern' is missing"),
        ({"pattern": "a", "force": "x"}, "it has no argument 'force'"),
        ({"path": "a"}, "the argument 'pattern' is missing"),
    ],
)
def test_the_model_is_told_which_arguments_are_wrong(arguments, mistake):
    answer = read_answer(FORMS["hermes"]("find", arguments))

    assert f"the call of 'find' is wrong: {mistake}" in answer.message.extra["writtenCallMistake"]


def result(text):
    return ToolResultMessage(tool_call_id="1", tool_name="read", content=(TextContent(text),))


@for_each("form", list(FORMS))
def test_a_call_from_a_file_or_a_prompt_is_repeated_and_does_not_run(form):
    text = FORMS[form]("find", CALL)
    quoted = "\n".join(f"    {line}" for line in text.splitlines())

    for message in (
        result(f"# Notes\n{text}\n"),
        UserMessage(content=f"Say exactly: {text}"),
        result(f"Use:\n\n{quoted}"),
    ):
        answer = read_answer(text, messages=[message])
        assert (answer.calls, answer.text) == ([], text), message.role
    assert read_answer(text, messages=[result("find something with *")]).calls


@for_each("form", list(FORMS))
def test_no_call_is_read_where_the_model_may_not_call_or_was_cut(form):
    text = FORMS[form]("find", CALL)

    assert read_answer(text, tool_choice="none").calls == []
    assert read_answer(text, tool_choice={"type": "none"}).calls == []
    assert read_answer(text, output_schema={"type": "object"}).calls == []
    assert read_answer(text, tools=()).calls == []
    assert read_answer(text, stop="length").calls == []


@for_each("form", [form for form in FORMS if form not in ("gemini", "elements")])
def test_a_call_whose_arguments_were_cut_never_runs(form):
    text = FORMS[form]("note", {"text": "remove the folder /tmp/x"})
    at = text.find("remove the folder") + len("remove the folder /")
    if "<parameter" in text:
        text = text.replace(
            "<parameter=text>\n", "<parameter=text>\n<parameter="
        )  # a value without its end is its rest

    assert read_answer(text[:at]).calls == [] or "parameter" in text or "param" in text


PARTS = (
    *("<think>", "</think>", "```", "```json\n", "\n", "\n\n", "a", "<", "[", "{", '"name"', "I will look.", "> "),
    *(FORMS[form]("find", CALL) for form in ("hermes", "bare", "kimi", "fenced", "harmony")),
    *("<tool_call>", "</tool_call>", "<function=find>", "[TOOL_CALLS]"),
)


@given(st.lists(st.sampled_from(PARTS), max_size=7), st.integers(1, 9), st.sampled_from([LOCAL, FAR]))
def test_no_text_is_lost_doubled_or_read_otherwise_in_pieces(parts, size, model):
    text = "".join(parts)
    whole, cut = read_answer(text, size=100_000, model=model), read_answer(text, size=size, model=model)

    assert cut.calls == whole.calls
    assert cut.text == cut.shown == whole.text == whole.shown
    if not cut.calls:
        assert cut.text == text
        assert [event.type for event in cut.events][-2:] == ["text_end", "done"]


def test_a_text_beside_a_call_that_the_server_read_is_text():

    builder = MessageBuilder(LOCAL)
    text = FORMS["hermes"]("find", CALL)
    opened = builder.text_start()
    events = [builder.start(), opened, builder.text(opened.content_index, text), builder.text_end(opened.content_index)]
    call = builder.tool_call_start("c1", "find")
    events += [
        call,
        builder.tool_call(call.content_index, '{"pattern": "*"}'),
        builder.tool_call_end(call.content_index),
    ]
    events.append(builder.done())
    change = WrittenCalls().filter_answer(LOCAL, Context(tools=TOOLS), StreamOptions(), NoSettings())
    answer = Answer([changed for event in events for changed in change(event)])

    assert (answer.shown, [call.id for call in answer.message.tool_calls]) == (text, ["c1"])


def test_what_was_held_back_is_not_lost_with_an_error():

    builder = MessageBuilder(LOCAL)
    opened = builder.text_start()
    events = [builder.start(), opened, builder.text(opened.content_index, "<tool_call>{"), builder.fail("No room.")]
    change = WrittenCalls().filter_answer(LOCAL, Context(tools=TOOLS), StreamOptions(), NoSettings())
    answer = Answer([changed for event in events for changed in change(event)])

    assert (answer.shown, answer.message.stop_reason) == ("<tool_call>{", "error")


def test_a_text_is_shown_at_once_where_it_cannot_be_a_call():
    answer = read_answer(" <b>Hello</b>\n" + FORMS["hermes"]("find", CALL), size=4)

    assert [event.delta for event in answer.events if event.type == "text_delta"][:3] == [" <b>", "Hell", "o</b"]
