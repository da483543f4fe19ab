"""The commands of the command line, but for those that `cli` has itself."""
