"""One scenario by several methods, held against one exact solution: how far each is from the truth, and why (`modular compare`)."""
