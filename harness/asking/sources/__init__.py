"""Sources of facts: how each kind is searched, one module a kind."""
