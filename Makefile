# `make check` is what CI runs; `make acceptance` flies the long campaigns (resumable).
check:
	uv run --locked python tests/check.py

acceptance:
	uv run --locked python tests/acceptance.py

.PHONY: check acceptance
