"""Models as FMUs: what an exported FMU is when it runs, and how its file is written."""
