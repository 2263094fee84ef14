"""A mechanism one can watch and handle while it moves, in a page of the browser that nobody else gets into."""
