"""The closed world: step, sense, judge."""
