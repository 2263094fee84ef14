"""A laboratory: a simulation that somebody acts on while it runs; every act is noted, and can be repeated without anybody."""
