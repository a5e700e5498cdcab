#!/usr/bin/env python3
"""What tamis web answers, whom it refuses, and that its figures are those of the command. Needs no browser.

    server_test.py TAMIS
"""
import json
import os
import signal
import socket
import subprocess
import sys

from page_server import Checks, Server, Store

check = Checks()


def check_refusals(server):
    page = f"/{server.token}/"
    ours = f"127.0.0.1:{server.port}"
    status = lambda path, **how: server.request(path, **how)[0]
    check("the page is served", status(page) == 200)
    check("by the name localhost too", status(page, host=[f"localhost:{server.port}"]) == 200)
    check("its own origin may ask", status(f"{page}api/stats", headers={"Origin": f"http://{ours}", "Sec-Fetch-Site": "same-origin"}) == 200)
    wrong = ("0" if server.token[0] != "0" else "1") + server.token[1:]
    for path in ("/", "/api/stats", f"/{wrong}/", f"/{wrong}/api/stats", f"/{server.token[:-1]}/", f"/{server.token}0/", f"//{server.token}/",
                 "/style.css", f"/api/stats?token={server.token}"):
        check(f"without the token: {path}", status(path) == 403)
    for host in ([], ["evil.example"], [f"evil.example:{server.port}"], ["127.0.0.1"], [f"127.0.0.1:{server.port + 1}"],
                 [ours, "evil.example"], [f"{ours}.evil.example"], [f"[::1]:{server.port}"]):
        check(f"of another host: {host}", status(page, host=host) in (400, 403), status(page, host=host))
    for origin in ("http://evil.example", "null", f"https://{ours}", "http://127.0.0.1", f"http://127.0.0.1:{server.port + 1}"):
        check(f"from another origin: {origin}", status(page, headers={"Origin": origin}) == 403)
    for site in ("cross-site", "same-site"):
        check(f"from another site: {site}", status(page, headers={"Sec-Fetch-Site": site}) == 403)
    for method in ("POST", "PUT", "DELETE", "OPTIONS", "HEAD", "PATCH"):
        answer = server.request(page, method=method, body=b"x=1" if method == "POST" else None)
        check(f"{method} is not allowed", answer[0] == 405 and answer[1].get("Allow") == "GET", answer)
        check(f"{method} without the token", server.request("/", method=method)[0] == 403)
    check("there is nothing else", status(f"{page}../etc/passwd") in (403, 404) and status(f"{page}api/none") == 404)


def check_headers(server):
    for path in (f"/{server.token}/", f"/{server.token}/app.js", f"/{server.token}/api/stats", "/", f"/{server.token}/none"):
        _, headers, body = server.request(path)
        policy = headers.get("Content-Security-Policy", "")
        check(f"{path}: policy", "default-src 'self'" in policy and "frame-ancestors 'none'" in policy and "unsafe" not in policy)
        check(f"{path}: headers", headers.get("Cache-Control") == "no-store" and headers.get("X-Content-Type-Options") == "nosniff"
              and headers.get("Referrer-Policy") == "no-referrer" and headers.get("X-Frame-Options") == "DENY", headers)
        check(f"{path}: nobody else may read it", "Access-Control-Allow-Origin" not in headers)
    types = {"": "text/html", "style.css": "text/css", "app.js": "text/javascript", "icon.svg": "image/svg+xml", "api/stats": "application/json"}
    for path, type_ in types.items():
        check(f"type of /{path}", server.request(f"/{server.token}/{path}")[1].get("Content-Type", "").startswith(type_))
    text = server.request(f"/{server.token}/")[2]
    check("the page has no inline script or style", "<style" not in text and "style=" not in text and "<script type=\"module\" src=" in text and "onclick" not in text)


def check_figures(server, store):
    files = ("level", "runs", "tables", "bytes", "entries", "tombstones", "filter_kind", "bits_per_key", "filter_bytes", "fpr_designed")
    page, command = server.api("stats")[1], store.json("stats", store.path)
    check("levels", [[level[name] for name in files] for level in page["levels"]] == [[level[name] for name in files] for level in command["levels"]])
    check("keyspaces and sizes", all(page[name] == command[name] for name in ("keyspaces", "sequence", "bytes_on_disk", "space_amplification")))
    check("the same fields", list(page) == list(command))
    for memory in (0, 1024, 1 << 20):
        page, command = server.api("plan", filter_memory=memory)[1], store.json("plan", store.path, "--filter-memory", str(memory))
        check(f"plan with {memory} bytes", all(page[name] == command[name] for name in ("runs", "filter_memory", "wasted_reads", "wasted_reads_uniform")))
    for key in ("city-000004", "absent", "in-memory", "", "ä&b=c"):
        page, command = server.api("explain", key=key)[1], store.json("explain", store.path, key)
        steps = lambda answer: [[step[name] for name in ("where", "level", "run", "table", "outcome")] for step in answer["steps"]]
        check(f"lookup of {key!r}", page["found"] == command["found"] and page.get("value") == command.get("value") and steps(page) == steps(command))
    check("a key in hexadecimal", server.api("explain", key="696e2d6d656d6f7279", hex=1)[1]["value_hex"] == b"newest".hex())
    tables = server.api("tree")[1]["tables"]
    planned = store.json("plan", store.path)["tables"]
    check("tables", [[table[name] for name in ("table", "level", "run", "keys", "kind")] for table in tables] ==
          [[table[name] for name in ("table", "level", "run", "keys", "kind")] for table in planned])
    sizes = {int(name.split(".")[0]): os.stat(os.path.join(store.path, name)).st_size for name in os.listdir(store.path) if name.endswith(".tms")}
    check("sizes of tables are those of their files", all(table["bytes"] == sizes[table["table"]] for table in tables))
    check("first keys of tables", min(table["smallest_key"] for table in tables) == "city-000000")


def check_errors(server):
    for name, parameters in (("plan", {"filter_memory": "x"}), ("explain", {"key": "0g", "hex": 1}), ("explain", {"key": "k", "keyspace": "none"}),
                             ("filter-lab", {"kind": "none"}), ("filter-lab", {"capacity": 10**9}), ("filter-lab", {"bits_per_key": 0}),
                             ("filter-lab", {"generated": 10**9}), ("filter-lab", {"capacity": 0})):
        status, answer = server.api(name, **parameters)
        check(f"{name} {parameters}", status == 400 and answer.get("error"), status, answer)


def check_lab(server):
    for kind in [kind["kind"] for kind in server.api("about")[1]["filter_kinds"]]:
        bits = {"fuse": 9, "cuckoo": 13}.get(kind, 10)
        status, lab = server.api("filter-lab", kind=kind, capacity=1000, bits_per_key=bits, key=["oslo", "rome"], generated=900, probe="rome")
        check(f"{kind}: is made", status == 200 and lab["kind"] == kind, lab.get("error"))
        if status != 200:
            continue
        check(f"{kind}: an inserted key is there", lab["probe"]["answer"] == "maybe" and lab["probe"]["was_added"])
        check(f"{kind}: the rate is near what is predicted", lab["fpr_measured"] < 2 * lab["fpr_estimated"] + 0.002, lab["fpr_measured"], lab["fpr_estimated"])
        check(f"{kind}: its bytes are shown", len(lab["body_hex"]) == 2 * min(4096, lab["bits"] // 8))
    empty = server.api("filter-lab", kind="bloom", capacity=100, bits_per_key=10, probe="rome")[1]
    check("an empty filter says no", empty["probe"]["answer"] == "no" and empty["fpr_measured"] == 0 and int(empty["body_hex"], 16) == 0)
    bits = empty["probe"]["bits"]
    one = server.api("filter-lab", kind="bloom", capacity=100, bits_per_key=10, key="rome", probe="rome")[1]
    lit = [i for i in range(len(one["body_hex"]) * 4) if bytes.fromhex(one["body_hex"])[i // 8] >> i % 8 & 1]
    check("the bits of a key are those that it sets", bits == lit and 0 < len(bits) <= one["hashes"], bits, lit)


def check_live(store, server):
    """A page keeps no writer out, and shows what it writes."""
    before = server.api("stats")[1]["sequence"]
    store.run("put", store.path, "another", "1")
    check("a writer may come, and is followed", server.api("stats")[1]["sequence"] == before + 1)
    check("what it wrote is found", server.api("explain", key="another")[1]["value"] == "1")
    store.run("compact", store.path)
    check("tables that are gone are not shown", len(server.api("tree")[1]["tables"]) == len(store.json("plan", store.path)["tables"]))


def check_address(tamis, store, server):
    taken = subprocess.run([tamis, "web", store.path, "--port", str(server.port)], capture_output=True, text=True)
    check("a port that is taken", taken.returncode == 3 and str(server.port) in taken.stderr, taken)
    for port in ("0", "65536", "x"):
        check(f"port {port}", subprocess.run([tamis, "web", store.path, "--port", port], capture_output=True).returncode == 2)
    check("no store", subprocess.run([tamis, "web", store.path + "-none"], capture_output=True).returncode == 3)
    other = Server(store)
    check("every start has its own token", other.token != server.token and len(other.token) == 32)
    check("the token of another", other.request(f"/{server.token}/")[0] == 403)
    with open("/proc/net/tcp") as listening, open("/proc/net/tcp6") as listening6:
        port = f"{other.port:04X}"
        addresses = [line.split()[1] for line in [*listening][1:] + [*listening6][1:] if line.split()[3] == "0A" and line.split()[1].endswith(f":{port}")]
    check("it listens at 127.0.0.1 only", addresses == [f"0100007F:{port}"], addresses)
    other.process.send_signal(signal.SIGINT)
    check("Ctrl-C ends it", other.process.wait(timeout=10) == 130)


def check_idle_connections(server):
    """Browsers open connections before they need them."""
    idle = [socket.create_connection(("127.0.0.1", server.port)) for _ in range(4)]
    check("idle connections keep nobody out", server.api("stats")[0] == 200)
    for connection in idle:
        connection.close()


def main():
    tamis = sys.argv[1]
    store = Store(tamis)
    server = Server(store)
    try:
        check_refusals(server)
        check_headers(server)
        check_figures(server, store)
        check_errors(server)
        check_lab(server)
        check_idle_connections(server)
        check_address(tamis, store, server)
        check_live(store, server)
    finally:
        server.close()
    check.finish()


main()
