"""Shared by every test: hypothesis draws the same cases each time and has no deadline."""

from hypothesis import settings

settings.register_profile("racewire", deadline=None, derandomize=True, database=None, max_examples=60)
settings.load_profile("racewire")
