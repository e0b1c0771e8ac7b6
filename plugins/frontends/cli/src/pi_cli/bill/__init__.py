"""The bill: what each plugin costs, in time, tokens and money; a line per session in the agent directory's cache."""
