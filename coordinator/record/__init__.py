"""What a run leaves behind: samples, series, folders, other formats, and whether it can be had again bit for bit."""
