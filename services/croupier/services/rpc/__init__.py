"""The gRPC side: translate, call, translate."""
