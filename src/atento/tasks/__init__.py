"""Tasks: one value each, whose fields stand in the order data meets them."""
