internal import CHTTPDNSSystem
internal import Glibc
internal import HTTPDNSPlatform

/// What a finished program left.
package struct CommandResult: Sendable {
    /// The exit code, or 128 + the signal that ended it.
    package let status: Int32
    package let output: [UInt8]
    package let errors: [UInt8]

    package var outputText: String { String(decoding: output, as: UTF8.self) }
    package var errorText: String { String(decoding: errors, as: UTF8.self) }
}

/// Why a program could not be run.
package struct CommandError: Error, CustomStringConvertible {
    package let description: String
}

/// Runs a program found on PATH to its end, off the cooperative pool.
package func run(
    _ program: String, _ arguments: [String], input: [UInt8] = [],
    environment: [String: String] = [:]
) async throws -> CommandResult {
    try await offPool {
        let child = try ChildProcess(program, arguments, environment: environment)
        return child.finish(input: input)
    }
}

/// A program that runs with pipes for its three streams.
package final class ChildProcess: Sendable {
    package let identifier: Int32
    private let input: Locked<Int32?>
    private let output: Int32
    private let errors: Int32

    package init(
        _ program: String, _ arguments: [String], environment: [String: String] = [:]
    ) throws {
        // A child that ends early must not end the tests with SIGPIPE.
        signal(SIGPIPE, SIG_IGN)
        let (inputRead, inputWrite) = try makePipe()
        _ = fcntl(inputWrite, F_SETFL, O_NONBLOCK)
        let (outputRead, outputWrite) = try makePipe()
        let (errorRead, errorWrite) = try makePipe()
        defer { for end in [inputRead, outputWrite, errorWrite] { close(end) } }
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_adddup2(&actions, inputRead, 0)
        posix_spawn_file_actions_adddup2(&actions, outputWrite, 1)
        posix_spawn_file_actions_adddup2(&actions, errorWrite, 2)
        var attributes = try ChildProcess.attributes()
        defer { posix_spawnattr_destroy(&attributes) }
        let variables = ChildProcess.inherited().merging(environment) { $1 }
        var pid = pid_t()
        let code = withCStrings([program] + arguments) { words in
            withCStrings(variables.map { "\($0)=\($1)" }) { environment in
                posix_spawnp(&pid, program, &actions, &attributes, words, environment)
            }
        }
        guard code == 0 else {
            for end in [inputWrite, outputRead, errorRead] { close(end) }
            throw CommandError(
                description: "cannot run \(program) (errno \(code)); \"make setup\" installs it")
        }
        identifier = pid
        input = Locked(inputWrite)
        output = outputRead
        errors = errorRead
    }

    deinit {
        closeInput()
        for end in [output, errors] { close(end) }
    }

    /// Ends the program's input; once is enough.
    package func closeInput() {
        let end = input.withLock { input in
            defer { input = nil }
            return input
        }
        if let end { close(end) }
    }

    /// Writes a line to the program's input. False when it does not take it: it has ended, or does not
    /// read.
    package func send(_ line: String) -> Bool {
        let octets = Array((line + "\n").utf8)
        return input.withLock { input in
            // Short lines go through a pipe whole or not at all. Source: pipe(7), PIPE_BUF.
            input.map { Glibc.write($0, octets, octets.count) == octets.count } ?? false
        }
    }

    /// The next line of the output without its end; nil at the end of the output.
    package func readLine() -> String? {
        var line: [UInt8] = []
        var octet: UInt8 = 0
        while read(output, &octet, 1) == 1 {
            if octet == 0x0A { return String(decoding: line, as: UTF8.self) }
            line.append(octet)
        }
        return line.isEmpty ? nil : String(decoding: line, as: UTF8.self)
    }

    /// Returns when the program has said something, or after so long.
    package func awaitOutput(atMostMilliseconds limit: Int32) {
        var entry = pollfd(fd: output, events: Int16(POLLIN), revents: 0)
        poll(&entry, 1, limit)
    }

    /// Everything the program still has to say on its error stream.
    package func readErrors() -> String {
        var octets: [UInt8] = []
        while let piece = readPiece(errors) { octets += piece }
        return String(decoding: octets, as: UTF8.self)
    }

    fileprivate func finish(input octets: [UInt8]) -> CommandResult {
        var streams = Streams(toWrite: octets[...], gathered: [output: [], errors: []])
        if octets.isEmpty { closeInput() }
        while !streams.isDone { step(&streams) }
        return CommandResult(
            status: awaitEnd(), output: streams.gathered[output] ?? [],
            errors: streams.gathered[errors] ?? [])
    }

    private struct Streams {
        var toWrite: ArraySlice<UInt8>
        var gathered: [Int32: [UInt8]]
        var ended: Set<Int32> = []

        var isDone: Bool { ended.count == gathered.count }
    }

    /// Waits for one of the streams and moves what it can; the program may answer before it has
    /// read all.
    private func step(_ streams: inout Streams) {
        let writing = streams.toWrite.isEmpty ? nil : input.withLock { $0 }
        var polled = streams.gathered.keys.filter { !streams.ended.contains($0) }
            .map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) }
        if let writing { polled.append(pollfd(fd: writing, events: Int16(POLLOUT), revents: 0)) }
        guard poll(&polled, nfds_t(polled.count), -1) > 0 else { return }
        for ready in polled where ready.revents != 0 {
            if ready.fd == writing {
                write(&streams.toWrite, to: ready.fd)
            } else if let piece = readPiece(ready.fd) {
                streams.gathered[ready.fd, default: []] += piece
            } else {
                streams.ended.insert(ready.fd)
            }
        }
    }

    private func write(_ rest: inout ArraySlice<UInt8>, to input: Int32) {
        let count = rest.withUnsafeBytes { Glibc.write(input, $0.baseAddress, $0.count) }
        rest = count > 0 ? rest.dropFirst(count) : []
        if rest.isEmpty { closeInput() }
    }

    /// The exit code once the program has ended.
    @discardableResult
    package func awaitEnd() -> Int32 {
        var status: Int32 = 0
        while waitpid(identifier, &status, 0) < 0, errno == EINTR {}
        let signal = status & 0x7F
        return signal == 0 ? (status >> 8) & 0xFF : 128 + signal
    }

    /// Signals as a shell would leave them: worker threads block most of them and the tests ignore
    /// SIGPIPE, and a child that inherits that cannot be ended.
    private static func attributes() throws -> posix_spawnattr_t {
        var attributes = posix_spawnattr_t()
        var none = sigset_t()
        var pipe = sigset_t()
        sigemptyset(&none)
        sigemptyset(&pipe)
        sigaddset(&pipe, SIGPIPE)
        posix_spawnattr_init(&attributes)
        posix_spawnattr_setsigmask(&attributes, &none)
        posix_spawnattr_setsigdefault(&attributes, &pipe)
        let flags = Int32(POSIX_SPAWN_SETSIGMASK) | Int32(POSIX_SPAWN_SETSIGDEF)
        guard posix_spawnattr_setflags(&attributes, Int16(flags)) == 0 else {
            throw CommandError(description: "cannot set a program's signals")
        }
        return attributes
    }

    private static func inherited() -> [String: String] {
        var variables: [String: String] = [:]
        var cursor = environ
        while let entry = cursor.pointee {
            let text = String(cString: entry)
            if let mark = text.firstIndex(of: "=") {
                variables[String(text[..<mark])] = String(text[text.index(after: mark)...])
            }
            cursor += 1
        }
        return variables
    }
}

/// The program that does what a test wants done in a process of its own: `Tests/Child/main.swift`.
package enum TestChild {
    package static var path: String {
        var octets = [CChar](repeating: 0, count: 4_096)
        let count = readlink("/proc/self/exe", &octets, octets.count)
        let own = String(decoding: octets.prefix(max(count, 0)).map(UInt8.init), as: UTF8.self)
        return "/" + own.split(separator: "/").dropLast().joined(separator: "/") + "/TestChild"
    }
}

private func makePipe() throws -> (read: Int32, write: Int32) {
    var ends: [Int32] = [-1, -1]
    guard httpdns_pipe(&ends) == 0 else {
        throw CommandError(description: "cannot open a pipe (errno \(errno))")
    }
    // Programs expect streams that wait.
    for end in ends { _ = fcntl(end, F_SETFL, 0) }
    return (ends[0], ends[1])
}

private func readPiece(_ descriptor: Int32) -> [UInt8]? {
    var octets = [UInt8](repeating: 0, count: 65_536)
    let count = read(descriptor, &octets, octets.count)
    return count > 0 ? Array(octets.prefix(count)) : nil
}

private func withCStrings<Result>(
    _ texts: [String], _ body: ([UnsafeMutablePointer<CChar>?]) -> Result
) -> Result {
    let pointers = texts.map { strdup($0) }
    defer { for pointer in pointers { free(pointer) } }
    return body(pointers + [nil])
}
