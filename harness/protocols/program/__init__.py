"""Any evaluation that is a command: recorded through the proxy, its outputs made again."""
