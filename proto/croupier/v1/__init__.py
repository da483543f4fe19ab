"""The wire contract, version 1: stubs generated from the .proto files in this folder."""
