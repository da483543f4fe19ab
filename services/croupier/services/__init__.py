"""Everything with a socket, a clock or a disk: the service around the rules."""
