internal import HTTPDNSExchange
internal import HTTPDNSPlatform
internal import HTTPDNSRules

/// The body of one stub, taken piece by piece. On the stub thread.
struct StubBody {
    private enum Source {
        case octets(ArraySlice<UInt8>)
        case file(OpenedFile)
    }

    private var source: Source
    /// Octets in all.
    let length: Int64
    /// What it is, where a file's name or content tells.
    private(set) var type: String?
    /// Read of the file to see what it is.
    private var begun: [UInt8] = []

    /// - Throws: ``RuleRefusal``: the file cannot be read.
    init(_ body: StubResponse.Body, rule: String) throws(RuleRefusal) {
        switch body {
        case .none: (source, length) = (.octets([]), 0)
        case .octets(let octets): (source, length) = (.octets(octets[...]), Int64(octets.count))
        case .file(let path):
            let shown = path.unicodeScalars.prefix(200).map { $0.escaped(asASCII: false) }.joined()
            do throws(SmallFile.Fault) {
                let file = try OpenedFile(path)
                source = .file(file)
                length = file.octets
                type = MediaType.ofPath(path)
                guard type == nil else { return }
                begun = try file.read(atMost: MediaType.tellingOctets)
                type = MediaType.ofContent(begun)
            } catch {
                throw RuleRefusal(
                    .stubFailed, rule: rule,
                    "the file \(shown) cannot be read: \(error)",
                    fault: .resourceUnavailable)
            }
        }
    }

    /// The next octets; none at the end.
    ///
    /// - Throws: ``RuleRefusal``.
    mutating func next(_ count: Int, rule: String) throws(RuleRefusal) -> [UInt8] {
        if !begun.isEmpty {
            let piece = Array(begun.prefix(count))
            begun.removeFirst(piece.count)
            return piece
        }
        switch source {
        case .octets(let octets):
            let piece = octets.prefix(count)
            source = .octets(octets.dropFirst(piece.count))
            return Array(piece)
        case .file(let file):
            do throws(SmallFile.Fault) { return try file.read(atMost: count) } catch {
                throw RuleRefusal(
                    .stubFailed, rule: rule, "the file of the stub cannot be read: \(error)",
                    fault: .resourceUnavailable)
            }
        }
    }
}

/// Reads the body of a request away, as sending it would. On the stub thread.
final class BodyDrain: @unchecked Sendable {
    // Safety: `isClaimed` and `isTouched` are touched on the stub thread alone.
    private let source: any RequestBodySource
    private let onNews: @Sendable () -> Void
    private var isClaimed = false

    enum Outcome: Sendable {
        case done
        /// `onNews` will be called.
        case later
        case failed(ExchangeFailure.Cause)
    }

    init(_ source: any RequestBodySource, onNews: @escaping @Sendable () -> Void) {
        self.source = source
        self.onNews = onNews
    }

    func begin(_ url: HTTPURL) -> Outcome {
        switch BodyClaims.shared.claim(source) {
        case .taken: return .failed(.bodySourceFailed("another request is sending it now"))
        case .fresh: isClaimed = true
        case .begun:
            isClaimed = true
            guard source.rewind() else { return .failed(.bodyNotReplayable(to: url)) }
        }
        source.whenReadable(onNews)
        return goOn()
    }

    func goOn() -> Outcome {
        // One piece in a turn: others are played on this thread, too.
        let read = withUnsafeTemporaryAllocation(byteCount: BodyDrain.pieceOctets, alignment: 16) {
            source.read(into: $0)
        }
        switch read {
        case .filled:
            onNews()
            return .later
        case .pending: return .later
        case .end: return .done
        case .failed(let why): return .failed(.bodySourceFailed(why))
        }
    }

    func end() {
        guard isClaimed else { return }
        isClaimed = false
        source.letGo()
        BodyClaims.shared.giveBack(source, isBegun: true)
    }

    /// Because: as much as the transport takes at once.
    private static let pieceOctets = 65_536
}
