internal import CHTTPDNSSystem
internal import Dispatch
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

/// Runs blocking work on a thread of its own, so that tests never block the cooperative pool.
package func offPool<Result: Sendable>(
    _ work: @escaping @Sendable () throws -> Result
) async throws -> Result {
    try await withCheckedThrowingContinuation { continuation in
        DispatchQueue.global().async {
            continuation.resume(with: Swift.Result(catching: work))
        }
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
        let (outputRead, outputWrite) = try makePipe()
        let (errorRead, errorWrite) = try makePipe()
        defer { for end in [inputRead, outputWrite, errorWrite] { close(end) } }
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_adddup2(&actions, inputRead, 0)
        posix_spawn_file_actions_adddup2(&actions, outputWrite, 1)
        posix_spawn_file_actions_adddup2(&actions, errorWrite, 2)
        let variables = ChildProcess.inherited().merging(environment) { $1 }
        var pid = pid_t()
        let code = withCStrings([program] + arguments) { words in
            withCStrings(variables.map { "\($0)=\($1)" }) { environment in
                posix_spawnp(&pid, program, &actions, nil, words, environment)
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

    /// Everything the program still has to say on its error stream.
    package func readErrors() -> String {
        var octets: [UInt8] = []
        while let piece = readPiece(errors) { octets += piece }
        return String(decoding: octets, as: UTF8.self)
    }

    fileprivate func finish(input octets: [UInt8]) -> CommandResult {
        // Written beside the reading: the program may answer before it has read all.
        let writing = DispatchWorkItem {
            self.write(octets)
            self.closeInput()
        }
        DispatchQueue.global().async(execute: writing)
        var gathered: [Int32: [UInt8]] = [output: [], errors: []]
        var open: Set<Int32> = [output, errors]
        while !open.isEmpty {
            var polled = open.map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) }
            guard poll(&polled, nfds_t(polled.count), -1) > 0 else { continue }
            for ready in polled where ready.revents != 0 {
                guard let piece = readPiece(ready.fd) else {
                    open.remove(ready.fd)
                    continue
                }
                gathered[ready.fd, default: []] += piece
            }
        }
        writing.wait()
        return CommandResult(
            status: awaitEnd(), output: gathered[output] ?? [], errors: gathered[errors] ?? [])
    }

    private func write(_ octets: [UInt8]) {
        guard let input = input.withLock({ $0 }) else { return }
        var rest = octets[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { Glibc.write(input, $0.baseAddress, $0.count) }
            guard count > 0 else { return }
            rest = rest.dropFirst(count)
        }
    }

    /// The exit code once the program has ended.
    @discardableResult
    package func awaitEnd() -> Int32 {
        var status: Int32 = 0
        while waitpid(identifier, &status, 0) < 0, errno == EINTR {}
        let signal = status & 0x7F
        return signal == 0 ? (status >> 8) & 0xFF : 128 + signal
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
