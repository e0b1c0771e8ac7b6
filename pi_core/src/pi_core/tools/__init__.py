"""A session's tools and the calls of one answer: which are offered, what their arguments must be, how they are run."""
