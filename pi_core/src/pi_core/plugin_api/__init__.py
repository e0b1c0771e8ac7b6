"""The objects that plugins use: ``pi``, ``ctx`` and what they offer; and what front ends have to answer them."""
