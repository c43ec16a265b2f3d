internal import CHTTPDNSSystem
package import HTTPDNSJSON
internal import HTTPDNSPlatform

/// Where a command speaks: its two streams, whether they are terminals, and the environment.
package struct Console: Sendable {
    package let output: OutputStream
    package let errors: OutputStream
    /// How text is painted on ``output`` and ``errors``.
    package var outputPaint = Paint(isOn: false)
    package var errorPaint = Paint(isOn: false)
    /// Looks up a variable of the environment.
    package let variable: @Sendable (String) -> String?

    package init(
        output: OutputStream, errors: OutputStream,
        variable: @escaping @Sendable (String) -> String?
    ) {
        self.output = output
        self.errors = errors
        self.variable = variable
    }

    /// The process's own.
    package static let process = Console(
        output: OutputStream(descriptor: 1), errors: OutputStream(descriptor: 2),
        variable: { name in getenv(name).map { String(cString: $0) } })

    /// One line on standard output; the text must be printable.
    package func print(_ line: String) { output.write(line + "\n") }

    /// One JSON text a line: one write, so that lines of many tasks never mix.
    package func print(json: JSONValue) {
        output.write(octets: JSONWriter.octets(json) + [0x0A])
    }

    /// One line on standard error; whatever the text holds comes out printable.
    package func note(_ line: String) { errors.write(line.printable + "\n") }

    /// A fault: `httpdns lookup: unknown option "--jsn"; did you mean "--json"?`
    package func complain(_ fault: CommandFault, of command: String?) {
        let name = command.map { "httpdns " + $0 } ?? "httpdns"
        note("\(name): \(fault.message)")
    }

    /// With the colours that `--color` and the environment ask for.
    package func painted(_ choice: ColorChoice) -> Console {
        var console = self
        let isPlain =
            variable("NO_COLOR").map { !$0.isEmpty } ?? false || variable("TERM") == "dumb"
        let isOn = { (stream: OutputStream) in
            switch choice {
            case .always: true
            case .never: false
            case .auto: stream.isTerminal && !isPlain
            }
        }
        console.outputPaint = Paint(isOn: isOn(output))
        console.errorPaint = Paint(isOn: isOn(errors))
        return console
    }
}

/// What `--color` takes. Source: no-color.org for `NO_COLOR`, which `always` overrules.
package enum ColorChoice: String, Sendable, CaseIterable {
    case auto, always, never
}

/// Puts text in colour, or leaves it.
package struct Paint: Sendable {
    package let isOn: Bool

    package init(isOn: Bool) { self.isOn = isOn }

    package func bold(_ text: String) -> String { paint(text, "1") }
    package func dim(_ text: String) -> String { paint(text, "2") }
    package func red(_ text: String) -> String { paint(text, "31") }
    package func green(_ text: String) -> String { paint(text, "32") }
    package func yellow(_ text: String) -> String { paint(text, "33") }

    /// Source: ECMA-48 §8.3.117 (SGR).
    private func paint(_ text: String, _ code: String) -> String {
        isOn ? "\u{1B}[\(code)m\(text)\u{1B}[0m" : text
    }
}

/// One of the process's streams.
package final class OutputStream: Sendable {
    private let descriptor: Int32
    private let turn = Locked(())

    package init(descriptor: Int32) { self.descriptor = descriptor }

    package var isTerminal: Bool { isatty(descriptor) == 1 }

    package func write(_ text: String) { write(octets: Array(text.utf8)) }

    /// Writes all of it. When nobody reads any longer, the process ends: there is no one to tell. When
    /// standard output cannot be written, it ends as a failure: half an answer is none.
    package func write(octets: [UInt8]) {
        turn.withLock { _ in
            var rest = octets[...]
            while !rest.isEmpty {
                let count = rest.withUnsafeBytes {
                    CHTTPDNSSystem.write(descriptor, $0.baseAddress, $0.count)
                }
                if count > 0 {
                    rest = rest.dropFirst(count)
                } else if !mayRetry() {
                    return
                }
            }
        }
    }

    /// Ends the process, as a write would, when nobody reads any longer.
    ///
    /// Source: poll(2): POLLERR for a pipe whose reading end is closed, POLLHUP for a terminal that is
    /// gone; both are told without being asked for.
    package func endWithoutReader() {
        var polled = pollfd(fd: descriptor, events: 0, revents: 0)
        guard poll(&polled, 1, 0) == 1, Int32(polled.revents) & (POLLERR | POLLHUP) != 0 else {
            return
        }
        httpdns_interrupt_clean_up()
        _exit(ExitCode.succeeded.rawValue)
    }

    private func mayRetry() -> Bool {
        switch httpdns_errno() {
        case EINTR: return true
        case EAGAIN:
            var polled = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
            _ = poll(&polled, 1, -1)
            return true
        case EPIPE:
            // The reader has what it wanted (`| head -1`): not a failure.
            httpdns_interrupt_clean_up()
            _exit(ExitCode.succeeded.rawValue)
        case let error:
            guard descriptor == STDOUT_FILENO else { return false }
            var word = [CChar](repeating: 0, count: 128)
            httpdns_error_text(error, &word, word.count)
            let reason = String(decoding: word.prefix { $0 != 0 }.map(UInt8.init), as: UTF8.self)
            OutputStream(descriptor: STDERR_FILENO).write(
                "httpdns: cannot write standard output: \(reason)\n")
            httpdns_interrupt_clean_up()
            _exit(ExitCode.usage.rawValue)
        }
    }
}
