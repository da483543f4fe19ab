"""The demonstration: a server in this process, sessions played on it over gRPC, and an audit."""
