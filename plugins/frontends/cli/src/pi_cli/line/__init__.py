"""The line mode: a conversation on a line at the bottom of any terminal, with everything else above it."""
