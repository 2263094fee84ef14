"""The benchmark suite behind `modular bench`: what a step, a body, a start and a change cost, here and elsewhere."""
