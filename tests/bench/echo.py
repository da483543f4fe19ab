"""The yardstick: a bare gRPC server of the same kind that answers with what it was sent."""

from __future__ import annotations

import grpc

from croupier.services.commands.process import interrupted, run
from croupier.v1 import play_pb2

METHOD = "/bench.Echo/Echo"


async def _echo(request, context):
    return request


class _Handler(grpc.GenericRpcHandler):
    def service(self, handler_call_details):
        return grpc.unary_unary_rpc_method_handler(
            _echo, play_pb2.PlayRequest.FromString, play_pb2.PlayRequest.SerializeToString
        )


async def main():
    server = grpc.aio.server()
    server.add_generic_rpc_handlers((_Handler(),))
    port = server.add_insecure_port("127.0.0.1:0")
    await server.start()
    print(port, flush=True)
    await interrupted()
    await server.stop(0)


if __name__ == "__main__":
    run(main())
