"""The shell: sockets, processes, files and the machine's clock. The only place that does I/O."""
