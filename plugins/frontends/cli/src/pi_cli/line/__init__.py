"""The line mode: the user types on a line at the bottom of any terminal, and everything else is printed above it."""
