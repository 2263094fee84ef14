"""Rigid bodies by place and turning, and what all bodies share that have an angle or a quaternion."""
