"""Run a command apart from the network and from the files of this machine."""
