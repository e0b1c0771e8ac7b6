"""Building blocks for session stores: reads the lines of stored sessions, whichever program and version wrote them."""
