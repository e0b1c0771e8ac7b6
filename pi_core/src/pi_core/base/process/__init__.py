"""This process and those it starts: orderly shutdown on signals, standard streams, forks, running programs."""
