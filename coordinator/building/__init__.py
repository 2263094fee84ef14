"""How components become members of a running system."""
