"""Other programs on the same physics: each is given the same mechanism, and nothing is timed before the motions agree."""
