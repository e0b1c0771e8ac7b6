"""What is said to the model: stdin, files, messages, in this order."""

from __future__ import annotations

from pathlib import Path

import pytest
from PIL import Image

from pi_testing.patience import PATIENCE

pytestmark = pytest.mark.slow  # each starts programs that take seconds


def prompt_of(pi, *arguments, stdin=b""):
    done = pi.run("--model", "fake/echo", *arguments, stdin=stdin)

    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout.removesuffix("\n")


def test_message_is_sent_as_it_is(fake):
    assert prompt_of(fake, "-p", "  two words ") == "  two words "


def test_pipe_forces_print_mode_and_is_trimmed(fake):
    assert prompt_of(fake, stdin=" \n from the pipe\n\n") == "from the pipe"


def test_stdin_files_and_message_are_joined_in_this_order(fake):
    (fake.cwd / "a.txt").write_text("alpha\n")
    (fake.cwd / "b.txt").write_text("beta")

    text = prompt_of(fake, "@a.txt", "message", f"@{fake.cwd}/b.txt", stdin="piped\n")

    assert text == (
        f'piped<file name="{fake.cwd}/a.txt">\nalpha\n\n</file>\n<file name="{fake.cwd}/b.txt">\nbeta\n</file>\nmessage'
    )


def test_file_without_a_message_is_a_prompt(fake):
    (fake.cwd / "a.txt").write_text("alpha")

    assert prompt_of(fake, "-p", "@a.txt") == f'<file name="{fake.cwd}/a.txt">\nalpha\n</file>'


def test_file_name_may_begin_at_home_or_go_up(fake):
    (fake.cwd.parent / "note.txt").write_text("hi")

    block = f'<file name="{fake.cwd.parent}/note.txt">\nhi\n</file>\n'
    assert prompt_of(fake, "-p", "@~/note.txt", "@../note.txt") == (block * 2).removesuffix("\n")


def test_empty_file_is_skipped(fake):
    (fake.cwd / "empty").touch()

    assert prompt_of(fake, "-p", "@empty", "hello") == "hello"


def test_bytes_that_are_no_utf8_become_replacement_characters(fake):
    (fake.cwd / "latin").write_bytes("caf\u00e9".encode("latin-1"))

    assert "caf\ufffd" in prompt_of(fake, "-p", "@latin")
    assert prompt_of(fake, stdin=b"caf\xe9") == "caf\ufffd"


@pytest.mark.parametrize(
    ("form", "kind", "notes"),
    [
        ("PNG", "image/png", ""),
        ("JPEG", "image/jpeg", ""),
        ("GIF", "image/gif", ""),
        ("WEBP", "image/webp", ""),
        ("BMP", "image/png", "[Image converted from image/bmp to image/png.]"),
        ("TIFF", "image/png", "[Image converted from image/tiff to image/png.]"),
    ],
)
def test_image_is_attached_by_its_content_whatever_its_name(fake, form, kind, notes):
    Image.new("RGB", (8, 4)).save(fake.cwd / "picture.txt", form)

    block = f'<file name="{fake.cwd}/picture.txt">{notes}</file>\n'
    assert prompt_of(fake, "-p", "@picture.txt", "look") == f"{block}look{kind}"


def test_image_is_shrunk_and_a_broken_one_left_out_each_with_a_note_at_its_name(fake):
    Image.new("RGB", (3000, 2500)).save(fake.cwd / "large.png")
    (fake.cwd / "half.png").write_bytes((fake.cwd / "large.png").read_bytes()[:500])

    done = fake.run("--model", "fake/echo", "-p", "@large.png", "@half.png", "look")

    assert done.stdout == (
        f'<file name="{fake.cwd}/large.png">[Image: original 3000x2500, displayed at 2000x1667. '
        "Multiply coordinates by 1.50 to map to original image.]</file>\n"
        f'<file name="{fake.cwd}/half.png">[Image omitted: its data is damaged or incomplete.]</file>\n'
        "lookimage/png\n"
    )
    assert done.stderr.startswith(f"Warning: '{fake.cwd}/half.png' was left out. [Image omitted: its data is")


def test_what_follows_two_dashes_is_a_message(fake):
    assert prompt_of(fake, "-p", "--", "--model") == "--model"
    assert prompt_of(fake, "--", "plugins") == "plugins"
    assert prompt_of(fake, "-p", "--", "@nowhere") == "@nowhere"


def test_what_only_looks_like_a_subcommand_is_a_message(fake):
    assert prompt_of(fake, "-p", "plugins") == "plugins"
    assert prompt_of(fake, "plugins", "-p") == "plugins"
    assert prompt_of(fake, "plugs") == "plugs"
    assert prompt_of(fake, "plugins are great") == "plugins are great"


def test_a_word_that_is_no_subcommand_is_a_message_behind_any_options(fake):
    done = fake.run("-a", "harbours", "--model=fake/echo")

    assert (done.returncode, done.stdout) == (0, "harbours\n")


def test_messages_are_sent_one_after_another_and_the_last_answer_is_printed(fake):
    assert prompt_of(fake, "-p", "one", "two") == "two"


def test_an_empty_pipe_is_no_failure_of_a_pipeline_and_is_reported(fake):
    done = fake.run("-p", stdin=" \n")

    assert (done.returncode, done.stdout) == (0, "")
    assert done.stderr == "Warning: Nothing was sent: stdin was empty, and no prompt was given\n"


def test_print_at_a_terminal_needs_a_prompt(fake, at_terminal):
    output, code = at_terminal(fake, "-p").end()

    assert code == 1
    assert output.startswith("Error: Nothing to do: no prompt was given, and -p asks for none.")


def test_stdin_that_never_ends_is_refused(fake):
    with Path("/dev/zero").open("rb") as zero:
        process = fake.start("-p", stdin=zero)
        _, errors = process.communicate(timeout=PATIENCE)

    assert process.returncode == 1
    assert errors.startswith(b"Error: More than 64 MB came through stdin. Keep it in a file, name that in the prompt")


def test_a_file_without_end_or_too_large_is_refused(fake):
    with (fake.cwd / "large.log").open("wb") as large:
        large.truncate(64_000_001)

    for name in ("/dev/zero", f"{fake.cwd}/large.log"):
        done = fake.run("-p", f"@{name}", "What is this?")
        assert (done.returncode, done.stdout) == (1, "")
        assert done.stderr.startswith(f"Error: {name!r} has more than 64 MB. Name it in the prompt without @")


def test_a_binary_file_is_named_and_the_user_is_warned(fake):
    (fake.cwd / "data.bin").write_bytes(b"a\0b")

    done = fake.run("-p", "--model", "fake/echo", "@data.bin", "What is this?")

    assert done.stdout == f'<file name="{fake.cwd}/data.bin">\n(binary file, 3 bytes)\n</file>\nWhat is this?\n'
    assert f"Warning: '{fake.cwd}/data.bin' is a binary file" in done.stderr


def test_a_text_from_the_pipe_is_no_command_that_writes_files(fake):
    done = fake.run("-p", "--model", "fake/echo", stdin=f"/export {fake.cwd}/AGENTS.md\n")

    assert done.returncode == 1
    assert "/export is not available here: it touches files" in done.stderr
    assert not (fake.cwd / "AGENTS.md").exists()
