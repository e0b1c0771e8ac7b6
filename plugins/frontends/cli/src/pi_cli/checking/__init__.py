"""``pi plugins check``: looks a plugin over for its author, before it is published."""
