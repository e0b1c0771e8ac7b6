"""In which order a prompt has what was piped, the files and the messages of the command line."""

from __future__ import annotations

from pi_cli.prompt_input import read_prompts


def test_what_was_piped_comes_before_files_and_those_before_the_first_message(tmp_path):
    (tmp_path / "a.txt").write_text("alpha")
    (tmp_path / "b.txt").write_text("beta")

    first, second = read_prompts(["message", "another"], ["a.txt", "b.txt"], "piped", tmp_path)

    assert first.text == (
        f'piped<file name="{tmp_path}/a.txt">\nalpha\n</file>\n<file name="{tmp_path}/b.txt">\nbeta\n</file>\nmessage'
    )
    assert (first.piped, second.text, second.piped) == (True, "another", False)
