"""`python -m racewire`."""

from racewire.cli import main

main()
