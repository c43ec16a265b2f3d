internal import Glibc
package import HTTPDNSNames
package import HTTPDNSPinLab

/// A real nginx with HTTP/2 over TLS on a free loopback port: greets at `/`, keeps what is `PUT` below
/// `/files/`, and serves it.
package final class NginxOrigin: Sendable {
    package let endpoint: Endpoint
    private let directory: TemporaryDirectory

    /// Whether there is one to run; `scripts/setup` installs it.
    package static var isInstalled: Bool {
        let path = getenv("PATH").map { String(cString: $0) } ?? ""
        return path.split(separator: ":").contains { access("\($0)/nginx", X_OK) == 0 }
    }

    /// - Parameters:
    ///   - more: what its `http` block says besides.
    ///   - locations: what its server answers besides.
    package init(
        _ identity: TestIdentity, more: String = "", locations: String = ""
    ) async throws {
        let address = LabAddress.ipv4
        let port = try closedPort(address: address)
        endpoint = Endpoint(address: address, port: port)
        directory = try TemporaryDirectory()
        try directory.write("chain.pem", identity.chainPEM)
        try directory.write("key.pem", identity.privateKeyPEM)
        let file = try directory.write(
            "nginx.conf",
            NginxOrigin.configuration(directory.path, port: port, more, locations))
        // Returns once the port is taken; the server goes on in the background.
        let started = try await run("nginx", ["-c", file, "-p", directory.path])
        guard started.status == 0 else { throw CommandError(description: started.errorText) }
    }

    package func stop() async throws {
        _ = try await run(
            "nginx", ["-c", directory.path + "/nginx.conf", "-p", directory.path, "-s", "stop"])
    }

    /// One line a request: protocol, method, target, host, server name, status. A line is written after
    /// its response was sent: this waits for so many.
    package func log(_ count: Int = 1) async throws -> [String] {
        let path = directory.path + "/access.log"
        let lines = { @Sendable in
            try contents(of: path).split(separator: "\n").map(String.init)
        }
        _ = await eventually { (try? lines().count) ?? 0 >= count }
        return try lines()
    }

    package func stored(_ name: String) throws -> String {
        try contents(of: "\(directory.path)/files/\(name)")
    }

    /// Writes what is served below `/files/`.
    package func store(_ name: String, _ text: String) throws {
        if access("\(directory.path)/files", F_OK) != 0 { try directory.makeDirectory("files") }
        try directory.write("files/" + name, text)
    }

    /// Lets a file look as if it had been changed so long ago.
    package func age(_ name: String, bySeconds seconds: Int) throws {
        var now = timespec()
        clock_gettime(CLOCK_REALTIME, &now)
        let moment = timespec(tv_sec: now.tv_sec - seconds, tv_nsec: 0)
        guard utimensat(AT_FDCWD, "\(directory.path)/files/\(name)", [moment, moment], 0) == 0
        else { throw CommandError(description: "cannot date \(name) (errno \(errno))") }
    }

    private static func configuration(
        _ path: String, port: Port, _ more: String, _ locations: String
    ) -> String {
        """
        user root;
        worker_processes 1;
        pid \(path)/nginx.pid;
        error_log \(path)/error.log;
        events { worker_connections 1024; }
        http {
            log_format facts '$server_protocol $request_method $request_uri $host '
                '$ssl_server_name $status';
            access_log \(path)/access.log facts;
            client_body_temp_path \(path)/body;
            proxy_temp_path \(path)/proxy;
            fastcgi_temp_path \(path)/fastcgi;
            uwsgi_temp_path \(path)/uwsgi;
            scgi_temp_path \(path)/scgi;
            client_max_body_size 100m;
            keepalive_requests 100000;
            \(more)
            server {
                listen 127.0.0.1:\(port) ssl http2;
                ssl_certificate \(path)/chain.pem;
                ssl_certificate_key \(path)/key.pem;
                location / { return 200 "hello $host"; }
                location /files/ {
                    root \(path);
                    dav_methods PUT;
                    create_full_put_path on;
                }
                \(locations.replacing("@dir@", with: path))
            }
        }
        """
    }
}
