"""What a step costs with no framework around it: one model as a loop written by hand."""
