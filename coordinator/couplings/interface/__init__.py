"""The interface between glued components: their joints as one sparse system that knows nothing of them but compliances."""
