"""Models: what each provider wants to be asked and how its replies read, one module a provider."""
