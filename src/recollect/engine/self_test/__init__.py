"""How well a store is found by questions made of itself."""
