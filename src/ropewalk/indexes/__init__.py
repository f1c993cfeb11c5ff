"""Package indexes: what they serve, and what a resolver finds in it."""
