"""Record and replay HTTP: transport, cassettes, digests, redaction, guard, checksums."""
