"""Bodies that follow courses."""
