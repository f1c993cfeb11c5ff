"""Environments in layers: all of them valid, and equal but for the fewest packages that cannot be."""
