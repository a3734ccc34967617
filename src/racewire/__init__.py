"""racewire."""
