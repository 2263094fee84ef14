"""Workers: each moves a part of a mechanism, and shows its neighbours what their joints must see."""
