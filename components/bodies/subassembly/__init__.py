"""Several bodies and joints solved as one."""
