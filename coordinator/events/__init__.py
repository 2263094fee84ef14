"""What changes while the mechanism moves: when it is due, what it touches, and what it stops."""
