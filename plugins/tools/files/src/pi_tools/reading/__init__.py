"""Output of ``read``: lines of texts of any size, images, and type names of other files."""
