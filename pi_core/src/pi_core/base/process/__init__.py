"""This process and those it starts: how it ends in good order, what its streams are, how programs are run."""
