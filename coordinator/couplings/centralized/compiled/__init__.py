"""Steps of centralized solvers in one compiled call, for systems whose parts are all compiled."""
