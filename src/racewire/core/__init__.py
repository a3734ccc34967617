"""Vocabulary: frames, clock, messages, topics, seeds, budgets, configs. No I/O."""
