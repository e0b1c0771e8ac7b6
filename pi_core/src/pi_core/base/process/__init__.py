"""This process and its children: orderly shutdown on signals, standard streams, forks, running programs."""
