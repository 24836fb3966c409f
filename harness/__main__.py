"""`python -m harness` is the command `harness`."""

from harness.cli import main

if __name__ == "__main__":  # a replay's processes import this file too
    main(prog_name="harness")
