"""A full-screen front end for pi, as parts: what there is to see, how it looks, and what keys do to it."""
