"""Commands that need a file of their own; `scenarios/cli.py` registers them."""
