"""A gRPC server, and calls to it: directly and through a proxy. Prints the server's port, reads the proxy's address
as JSON from standard input, and prints what each call saw both ways."""

import json
import sys
import threading
from concurrent import futures

import grpc

UNLIMITED = [("grpc.max_receive_message_length", -1), ("grpc.max_send_message_length", -1)]
cancelled = threading.Event()


def end(context, asked):
    context.set_trailing_metadata((("x-end", "yes"), ("x-end-bin", b"\x00\xff")))
    if asked.get("code"):
        context.abort(next(each for each in grpc.StatusCode if each.value[0] == asked["code"]), asked["details"])


def unary(request, context):
    asked = json.loads(request)
    if "hello" in asked:
        context.send_initial_metadata((("x-hello", asked["hello"]),))
    if asked.get("wait"):
        context.add_callback(cancelled.set)
        cancelled.wait(30)
    end(context, asked)
    return b"a" * asked.get("bytes", 0)


def count(request, context):
    asked = json.loads(request)
    for number in range(asked["messages"]):
        yield b"m%d" % number
    end(context, asked)


def total(requests, context):
    lengths = [len(request) for request in requests]
    return b"%d in %d" % (sum(lengths), len(lengths))


def echo(requests, context):
    for request in requests:
        if request.startswith(b"{"):
            end(context, json.loads(request))
        else:
            yield request


class Calls(grpc.GenericRpcHandler):
    def service(self, details):
        return {
            "/calls/Unary": grpc.unary_unary_rpc_method_handler(unary),
            "/calls/Count": grpc.unary_stream_rpc_method_handler(count),
            "/calls/Total": grpc.stream_unary_rpc_method_handler(total),
            "/calls/Echo": grpc.stream_stream_rpc_method_handler(echo),
        }.get(details.method)


def outcome(call, messages):
    trailing = [(each.key, repr(each.value)) for each in call.trailing_metadata() or () if each.key.startswith("x-end")]
    return [call.code().name, call.details(), messages, sorted(trailing)]


def seen(call):
    """The end of a call whose answer is a stream, and what came before."""
    messages = []
    try:
        for message in call:
            messages.append(message.decode())
    except grpc.RpcError:
        pass
    return outcome(call, [len(messages), messages[-1:]])


def seen_once(start):
    try:
        answer, call = start()
        return outcome(call, len(answer))
    except grpc.RpcError as call:
        return outcome(call, None)


def run(channel):
    def ask(body):
        return json.dumps(body).encode()

    one = channel.unary_unary("/calls/Unary")
    counting = channel.unary_stream("/calls/Count")
    totalling = channel.stream_unary("/calls/Total")
    echoing = channel.stream_stream("/calls/Echo")
    found = {}
    for code in range(1, 17):
        asked = {"code": code, "details": "no: %d, ä%%" % code}
        found["unary ends with %d" % code] = seen_once(lambda: one.with_call(ask(asked)))
        found["stream ends with %d" % code] = seen(counting(ask({**asked, "messages": 3})))
        found["empty stream ends with %d" % code] = seen(counting(ask({**asked, "messages": 0})))
        found["both ways, ends with %d" % code] = seen(echoing(iter([b"one", ask(asked)])))
    found["unknown method"] = seen_once(lambda: channel.unary_unary("/calls/None").with_call(b""))
    for size in (0, 1, 300_000, 1_000_000, 4_000_000, 20_000_000):
        found["unary of %d" % size] = seen_once(lambda: one.with_call(ask({"bytes": size})))
    _, call = one.with_call(ask({"hello": "there"}), metadata=(("x-mine", "1"), ("x-mine-bin", b"\xff")))
    found["initial metadata"] = [each.value for each in call.initial_metadata() if each.key == "x-hello"]
    found["100 messages down"] = seen(counting(ask({"messages": 100})))
    found["1,000 messages up"] = totalling(iter([b"u" * 1_000] * 1_000)).decode()
    found["20 MB up"] = totalling(iter([b"u" * 20_000_000])).decode()
    pings = (b"ping %d" % number for number in range(500))
    found["500 ping-pongs"] = seen(echoing(pings))
    found["50 in parallel"] = [len(each.result()) for each in [one.future(ask({"bytes": 100_000})) for _ in range(50)]]
    cancelled.clear()
    found["deadline"] = seen_once(lambda: one.with_call(ask({"wait": True}), timeout=0.3))[0]
    found["deadline reaches the server"] = cancelled.wait(20)
    cancelled.clear()
    waiting = one.future(ask({"wait": True}))
    threading.Timer(0.2, waiting.cancel).start()
    found["cancellation reaches the server"] = cancelled.wait(20)
    return found


server = grpc.server(futures.ThreadPoolExecutor(64), options=UNLIMITED)
server.add_generic_rpc_handlers((Calls(),))
port = server.add_insecure_port("127.0.0.1:0")
server.start()
print(json.dumps({"port": port}), flush=True)
proxy = json.loads(sys.stdin.readline())
direct = run(grpc.insecure_channel("127.0.0.1:%d" % port, options=UNLIMITED))
names = [("grpc.ssl_target_name_override", proxy["host"]), ("grpc.default_authority", proxy["host"])]
credentials = grpc.ssl_channel_credentials(proxy["root"].encode())
channel = grpc.secure_channel("127.0.0.1:%d" % proxy["port"], credentials, options=UNLIMITED + names)
through = run(channel)
server.stop(None).wait()
through["down"] = seen_once(lambda: channel.unary_unary("/calls/Unary").with_call(b"{}"))[0]
print(json.dumps({"direct": direct, "through": through}), flush=True)
