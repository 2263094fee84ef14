"""What is foretold of a run, watched in it, and judged afterwards."""
