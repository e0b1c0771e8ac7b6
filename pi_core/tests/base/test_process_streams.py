"""Descriptors that may be closed."""

from __future__ import annotations

import os

from pi_core.base.process.streams import copy_of, is_open


def test_a_copy_of_an_open_descriptor_leads_to_the_same_place(tmp_path):
    original = os.open(tmp_path / "file", os.O_CREAT | os.O_WRONLY)
    copy = copy_of(original, os.O_WRONLY)
    os.write(copy, b"there")
    os.close(copy)

    assert is_open(original)
    assert (tmp_path / "file").read_bytes() == b"there"
    os.close(original)


def test_a_copy_of_a_closed_descriptor_leads_nowhere():
    closed = 2**20
    copy = copy_of(closed, os.O_RDONLY)

    assert not is_open(closed)
    assert os.read(copy, 1) == b""
    os.close(copy)
