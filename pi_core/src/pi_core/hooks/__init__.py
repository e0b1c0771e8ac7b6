"""How event hooks are called: in which order, how long each may take, and what its answer and its failure mean."""
