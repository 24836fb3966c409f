"""Tables of a paper, from its source, and the checks that they need no claims file for."""
