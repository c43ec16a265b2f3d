import Glibc
import HTTPDNSJSON
import TestSupport
import Testing

/// Root, for a network of its own; the browser itself is installed by `make setup`.
private let canBrowse = geteuid() == 0 && access("/usr/bin/chromium", X_OK) == 0

/// Chromium with `httpdns proxy`, in a network of its own that has nothing but loopback.
@Suite(.timeLimit(.minutes(5)), .enabled(if: canBrowse))
struct BrowserTests {
    @Test func `a page and all that belongs to it come through, but for what is hijacked`()
        async throws
    {
        let directory = try TemporaryDirectory()
        try write(directory)
        let result = try await run(
            "unshare",
            ["-n", "bash", directory.path + "/browse.sh", directory.path, ProxyTool.path, servers],
            environment: ProxyTool.quiet.merging(["HOME": directory.path]) { $1 })
        #expect(result.status == 0, "\(result.outputText)\n\(result.errorText)")
        for page in ["https", "http"] {
            let dom = try contents(of: directory.path + "/\(page).html")
            for fact in [
                "style sheet: applied", "picture of the host: 320", "picture of another host: 320",
                "data: from the proxy's other side", "picture of a hijacked host: refused",
            ] {
                #expect(dom.contains("<li>\(fact)</li>"), "\(page): \(dom)")
            }
        }
        let picture = try octets(of: directory.path + "/https.png")
        #expect(picture.starts(with: [0x89, 0x50, 0x4E, 0x47]))
        #expect(picture.count > 10_000)
        try check(try contents(of: directory.path + "/events"))
        // HTTPDNS_SCREENSHOTS=DIR keeps the picture, to be looked at.
        if let kept = getenv("HTTPDNS_SCREENSHOTS").map({ String(cString: $0) }) {
            _ = try await run("cp", [directory.path + "/https.png", kept + "/proxy.png"])
        }
    }

    private func check(_ events: String) throws {
        let ended = try events.split(separator: "\n").map { try JSONValue.parse(String($0)) }
            .filter { $0["event"]?.string == "ended" }
        let of = { (host: String, kind: String) in
            ended.filter { $0["host"]?.string == host && $0["kind"]?.string == kind }
        }
        let tunnels = of("shop.example.test", "tunnel") + of("api.example.test", "tunnel")
        #expect(tunnels.count >= 3)
        #expect(tunnels.allSatisfy { $0["verified"]?["name"]?.string == $0["host"]?.string })
        // The page in the clear, its style sheet, its script, its picture and its data.
        #expect(of("shop.example.test", "exchange").count >= 5)
        let refused = of("wrong-name.lab.test", "refused")
        #expect(!refused.isEmpty)
        #expect(refused.allSatisfy { $0["error"]?["code"]?.string == "unknown_issuer" })
        #expect(of("wrong-name.lab.test", "tunnel").isEmpty)
        // What the browser asks for by itself found nobody, and went nowhere.
        let known = ["shop.example.test", "api.example.test", "wrong-name.lab.test"]
        for stranger in ended where !known.contains(stranger["host"]?.string ?? "") {
            #expect(stranger["remoteAddress"]?.string == nil)
        }
    }

    private var servers: String {
        let here = #filePath.split(separator: "/").dropLast(4)
        return "/" + here.joined(separator: "/") + "/scripts/servers"
    }

    private func octets(of path: String) throws -> [UInt8] {
        guard let file = fopen(path, "re") else {
            throw ProxyTestError(description: "no file \(path)")
        }
        defer { fclose(file) }
        var octets = [UInt8](repeating: 0, count: 1 << 22)
        let count = fread(&octets, 1, octets.count, file)
        return Array(octets.prefix(count))
    }

    private func write(_ directory: TemporaryDirectory) throws {
        try directory.write("browse.sh", BrowserTests.script)
        try directory.write("page.html", BrowserTests.page)
        try directory.write("style.css", BrowserTests.style)
        try directory.write("app.js", BrowserTests.program)
        try directory.write("picture.svg", BrowserTests.picture)
        try directory.write("data.json", "{\"text\":\"from the proxy's other side\"}")
    }

    private static let style = """
        body { font: 18px "DejaVu Sans", sans-serif; margin: 2em; background: #f4f7f4 }
        h1 { color: rgb(0, 96, 32) }
        img { width: 160px; height: 80px; border: 1px solid #888; margin-right: 1em }
        """

    private static let picture = """
        <svg xmlns="http://www.w3.org/2000/svg" width="320" height="160">
        <rect width="320" height="160" fill="#cde"/><circle cx="160" cy="80" r="60" fill="#063"/>
        </svg>
        """

    private static let page = """
        <!DOCTYPE html><html lang="en"><head><meta charset="utf-8"><title>Through the proxy</title>
        <link rel="stylesheet" href="style.css"></head><body>
        <h1>Through the proxy</h1>
        <p><img id="own" src="picture.svg" alt="own">
        <img id="other" src="https://api.example.test:@other@/store/picture.svg" alt="other">
        <img id="hijacked" src="https://wrong-name.lab.test:@liar@/picture.svg" alt="hijacked"></p>
        <ul id="facts"></ul><script src="app.js"></script></body></html>
        """

    private static let program = """
        addEventListener("load", async () => {
            const say = text => {
                const item = document.createElement("li");
                item.textContent = text;
                document.getElementById("facts").append(item);
            };
            const color = getComputedStyle(document.querySelector("h1")).color;
            say("style sheet: " + (color === "rgb(0, 96, 32)" ? "applied" : color));
            const width = id => document.getElementById(id).naturalWidth;
            say("picture of the host: " + width("own"));
            say("picture of another host: " + width("other"));
            say("picture of a hijacked host: " + (width("hijacked") || "refused"));
            say("data: " + (await (await fetch("data.json")).json()).text);
        });
        """

    /// Servers, the proxy and the browser; their names exist nowhere else.
    private static let script = #"""
        set -euo pipefail
        dir=$1 tool=$2 servers=$3
        ip link set lo up
        cd "$dir"
        mkdir -p nginx lab
        printf 'shop.example.test\napi.example.test\n' >nginx/names
        "$servers" start nginx "$dir/nginx" >nginx.json
        port() { sed -n "s/.*\"$1\":\([0-9]*\).*/\1/p" "$2" | head -n 1; }
        secure=$(port http2 nginx.json) plain=$(port plain nginx.json)
        "$tool" lab serve wrong-name --dir "$dir/lab" --json >lab.json &
        lab=$!
        for _ in $(seq 300); do [ -s lab.json ] && break; sleep 0.1; done
        sed -i "s/@other@/$secure/; s/@liar@/$(port port lab.json)/" page.html
        for file in page.html style.css app.js picture.svg data.json; do
            curl -sSf -o /dev/null -T $file --resolve "shop.example.test:$plain:127.0.0.1" \
                "http://shop.example.test:$plain/store/$file"
        done
        "$tool" proxy --json --listen 127.0.0.1:0 --resolver udp://127.0.0.1:9 \
            --cacert nginx/tls/root.pem --resolve shop.example.test:127.0.0.1 \
            --resolve api.example.test:127.0.0.1 --resolve wrong-name.lab.test:127.0.0.1 >events &
        proxy=$!
        for _ in $(seq 300); do [ -s events ] && break; sleep 0.1; done
        key() {
            openssl x509 -in "$1" -noout -pubkey | openssl pkey -pubin -outform der \
                | openssl dgst -sha256 -binary | base64
        }
        # The browser takes the hijacker's key, too: it is the proxy that refuses.
        keys=$(key nginx/tls/shop.example.test.pem),$(key nginx/tls/api.example.test.pem)
        keys=$keys,$(sed -n 's/.*"pins":\["sha256\/\([^"]*\)".*/\1/p' lab.json)
        browse() {
            timeout 120 chromium --headless=new --no-sandbox --disable-gpu --disable-dev-shm-usage \
                --no-first-run --disable-background-networking --disable-component-update \
                --disable-sync --disable-default-apps --disable-extensions --disable-quic \
                --no-pings --user-data-dir="$dir/profile" --window-size=900,520 \
                --host-resolver-rules='MAP * ~NOTFOUND , EXCLUDE 127.0.0.1' \
                --proxy-server="$(sed -n 's/.*"url":"\([^"]*\)".*/\1/p' events | head -n 1)" \
                --ignore-certificate-errors-spki-list="$keys" --virtual-time-budget=20000 \
                --screenshot="$dir/$1.png" --dump-dom "$2" >"$dir/$1.html" 2>"$dir/$1.log"
        }
        browse https "https://shop.example.test:$secure/store/page.html"
        browse http "http://shop.example.test:$plain/store/page.html"
        kill -TERM $proxy $lab
        code=0; wait $proxy || code=$?
        "$servers" stop "$dir/nginx"
        [ $code -eq 130 ] || { echo "the proxy ended with $code"; exit 1; }
        """#
}
