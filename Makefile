# `make check` is what CI runs.
check:
	uv run --locked python tests/check.py

.PHONY: check
