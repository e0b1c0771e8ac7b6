"""``pi plugins check``: checks a plugin for its author before publication."""
