"""The file of what was typed."""

from __future__ import annotations

import json
import stat
from typing import TYPE_CHECKING

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pi_terminal_kit.prompt_history import PromptFile

if TYPE_CHECKING:
    from pathlib import Path


def test_what_was_typed_is_read_in_its_order_by_another_process(tmp_path: Path) -> None:
    file = tmp_path / "agent" / "prompt-history.jsonl"
    PromptFile(file, print).append("one\ntwo")
    PromptFile(file, print).append("three")

    assert PromptFile(file, print).read() == ["one\ntwo", "three"]
    assert stat.S_IMODE(file.stat().st_mode) == 0o600


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(text=st.text(alphabet=st.characters()))
def test_any_text_comes_back(tmp_path: Path, text: str) -> None:
    file = PromptFile(tmp_path / "history", print)
    file.append(text)

    assert file.read()[-1] == text


def test_lines_that_are_no_texts_are_left_out(tmp_path: Path) -> None:
    file = tmp_path / "history"
    file.write_bytes(b'"one"\n{"not": "a text"}\nbroken"\n\xff\n' + b"[" * 100_000 + b'\n"two"\n')

    assert PromptFile(file, print).read() == ["one", "two"]


def test_a_long_file_is_cut_to_the_newest_thousand(tmp_path: Path) -> None:
    file = tmp_path / "history"
    file.write_text("".join(f"{json.dumps(str(number))}\n" for number in range(2500)))

    assert PromptFile(file, print).read() == [str(number) for number in range(1500, 2500)]
    assert len(file.read_text().splitlines()) == 1000
    assert [*tmp_path.iterdir()] == [file]


def test_what_cannot_be_kept_is_reported_once(tmp_path: Path) -> None:
    warnings: list[str] = []
    file = PromptFile(tmp_path, warnings.append)

    file.append("one")
    file.append("two")

    assert warnings == [f"The prompt history cannot be stored in {str(tmp_path)!r}: Is a directory."]
    assert file.read() == []


def test_what_is_kept_is_without_secrets_or_not_kept_at_all(tmp_path):
    def clean(text):
        return None if "broken" in text else text.replace("hunter2", "[secret]")

    history = PromptFile(tmp_path / "history.jsonl", str, clean)
    history.append("my password is hunter2")
    history.append("broken hunter2")

    assert history.read() == ["my password is [secret]"]
