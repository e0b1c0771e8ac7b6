"""Runs the programs of ``hooks.json``: JSON on standard input, exit codes and JSON answers as in Claude Code."""
