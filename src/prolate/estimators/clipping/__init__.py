"""Means of clipped rows: how they are clipped, and what clipping takes, which is given back."""
