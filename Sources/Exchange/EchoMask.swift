package import HTTPDNSNames

/// Takes out of a response what its request held that is between the sender and the service, also
/// where whoever answers has written it in another way.
///
/// Rules:
/// 1. A body is searched as it is and as it reads unwrapped, layer by layer: percent-encoding,
///    escapes of JSON, references of HTML, one in another. So are the values. Case does not count,
///    and `+` is a space.
/// 2. A name that was asked for stays readable: nothing is taken out of the middle of it.
/// 3. A short value counts only where it stands by itself: it is found in every number else.
package struct EchoMask: Sendable {
    /// Each value in each of its forms, made comparable.
    private let forms: Set<[UInt8]>
    private let names: Set<[UInt8]>

    /// - Parameters:
    ///   - values: what must not be seen, as it was sent or as it is meant.
    ///   - names: what was asked for.
    package init(hiding values: some Sequence<String>, sparing names: [HostName] = []) {
        forms = Set(
            values.flatMap { Layer.all(of: Array($0.utf8)) }.map(\.octets).filter { !$0.isEmpty })
        self.names = Set(names.map { Array($0.text.utf8).map(Layer.comparable) })
    }

    /// The body with a mark in the place of each value.
    package func masked(_ body: [UInt8]) -> [UInt8] {
        var isHidden: [Bool] = []
        for layer in Layer.all(of: body) {
            let spared = names.flatMap { layer.places(of: $0) }
            for form in forms {
                for place in layer.places(of: form) {
                    guard !spared.contains(where: { $0 != place && $0.contains(place) }),
                        form.count >= EchoMask.fewestOctets || layer.isAlone(place)
                    else { continue }
                    if isHidden.isEmpty { isHidden = body.map { _ in false } }
                    for octet in layer.written(place) { isHidden[octet] = true }
                }
            }
        }
        return isHidden.isEmpty ? body : EchoMask.marked(body, isHidden)
    }

    private static func marked(_ body: [UInt8], _ isHidden: [Bool]) -> [UInt8] {
        var out: [UInt8] = []
        out.reserveCapacity(body.count)
        for place in body.indices {
            guard isHidden[place] else {
                out.append(body[place])
                continue
            }
            if place == 0 || !isHidden[place - 1] { out += mark }
        }
        return out
    }

    /// What may be private in the path and query that somebody gave for a service: every segment and
    /// every value but the words of the protocols.
    package static func parts(of target: String) -> [String] {
        let parts = target.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
        var texts = parts.first.map { $0.split(separator: "/").map(String.init) } ?? []
        for item in parts.count > 1 ? parts[1].split(separator: "&") : [] {
            let value = item.firstIndex(of: "=").map { item[item.index(after: $0)...] } ?? ""
            // `?token` and `?token=` say what they have to say by the name.
            texts.append(String(value.isEmpty ? item.prefix { $0 != "=" } : value))
        }
        return texts.filter { !$0.isEmpty && !words.contains($0.lowercased()) }
    }

    /// What stands in the place of what was taken out.
    private static let mark = Array("REDACTED".utf8)
    /// Because: shorter values are found in every number and word.
    private static let fewestOctets = 4
    /// What the paths and queries of DNS services are made of. Source: RFC 8484 §4.1.1, and the
    /// documents of the services in Resolvers/Profiles.
    private static let words: Set<String> = [
        "dns-query", "resolve", "query", "dns", "doh", "api", "d", "sign_d", "sign_resolve", "ss",
        "conf", "v1", "v2", "v3", "v4", "application/dns-message", "application/dns-json",
    ]
}

/// A body as it reads when so much is unwrapped: each octet, and where it is written.
private struct Layer {
    private(set) var octets: [UInt8] = []
    private var places: [Range<Int>] = []

    /// As it is, then unwrapped as often as there is something to unwrap.
    static func all(of body: [UInt8]) -> [Layer] {
        var raw = Wrapped(octets: body, places: body.indices.map { $0..<($0 + 1) })
        var layers = [Layer(raw)]
        while layers.count < mostLayers, let next = raw.unwrapped() {
            raw = next
            layers.append(Layer(raw))
        }
        return layers
    }

    private init(_ wrapped: Wrapped) {
        octets = wrapped.octets.map(Layer.comparable)
        places = wrapped.places
    }

    static func comparable(_ octet: UInt8) -> UInt8 {
        switch octet {
        case 0x41...0x5A: octet | 0x20
        case 0x2B: 0x20
        default: octet
        }
    }

    /// Where a comparable text stands; it may overlap itself.
    func places(of text: [UInt8]) -> [Range<Int>] {
        guard let first = text.first, octets.count >= text.count else { return [] }
        var found: [Range<Int>] = []
        for place in 0...(octets.count - text.count) where octets[place] == first {
            let range = place..<(place + text.count)
            if octets[range] == text[...] { found.append(range) }
        }
        return found
    }

    /// Where all of it is written in the body.
    func written(_ range: Range<Int>) -> Range<Int> {
        places[range.lowerBound].lowerBound..<places[range.upperBound - 1].upperBound
    }

    /// No part of a longer word, number or address.
    func isAlone(_ range: Range<Int>) -> Bool {
        let before = Array(octets[..<range.lowerBound].suffix(2).reversed())
        return !Layer.goesOn(before) && !Layer.goesOn(Array(octets[range.upperBound...].prefix(2)))
    }

    private static func goesOn(_ next: [UInt8]) -> Bool {
        guard let first = next.first else { return false }
        return isOfWord(first) || (first == 0x2E && next.count > 1 && isOfWord(next[1]))
    }

    private static func isOfWord(_ octet: UInt8) -> Bool {
        (0x30...0x39).contains(octet) || (0x61...0x7A).contains(octet)
    }

    /// Because: JSON in a page in a message is wrapped up three times; nobody does it oftener.
    private static let mostLayers = 5
}

/// Octets that may mean others.
private struct Wrapped {
    var octets: [UInt8] = []
    var places: [Range<Int>] = []

    /// What one escape means, and how many octets it is written in.
    private typealias Escape = (meant: [UInt8], count: Int)

    /// Nil when there is nothing to unwrap.
    func unwrapped() -> Wrapped? {
        var next = Wrapped()
        var place = 0
        while place < octets.count {
            let escape = escape(at: place)
            let count = escape?.count ?? 1
            let range = places[place].lowerBound..<places[place + count - 1].upperBound
            for octet in escape?.meant ?? [octets[place]] {
                next.octets.append(octet)
                next.places.append(range)
            }
            place += count
        }
        return next.octets.count == octets.count ? nil : next
    }

    private func escape(at place: Int) -> Escape? {
        switch octets[place] {
        case 0x25: number(at: place + 1, digits: 2).map { ([UInt8($0 & 0xFF)], 3) }
        case 0x5C: backslash(at: place)
        case 0x26: reference(at: place)
        default: nil
        }
    }

    /// Source: RFC 8259 §7.
    private func backslash(at place: Int) -> Escape? {
        guard place + 1 < octets.count else { return nil }
        switch octets[place + 1] {
        case 0x22, 0x27, 0x2F, 0x5C: return ([octets[place + 1]], 2)
        case 0x75:
            return number(at: place + 2, digits: 4).flatMap { Wrapped.text($0) }.map { ($0, 6) }
        default: return nil
        }
    }

    /// Source: HTML, named and numeric character references.
    private func reference(at place: Int) -> Escape? {
        let rest = octets[(place + 1)...].prefix(Wrapped.longestReference)
        guard let end = rest.firstIndex(of: 0x3B) else { return nil }
        let name = String(decoding: rest[..<end], as: UTF8.self).lowercased()
        let count = end - place + 1
        if let octet = Wrapped.references[name] { return ([octet], count) }
        guard name.hasPrefix("#") else { return nil }
        let digits = name.dropFirst()
        let value =
            digits.hasPrefix("x") ? UInt32(digits.dropFirst(), radix: 16) : UInt32(digits)
        return value.flatMap { Wrapped.text($0) }.map { ($0, count) }
    }

    private func number(at place: Int, digits: Int) -> UInt32? {
        guard place + digits <= octets.count else { return nil }
        var value: UInt32 = 0
        for octet in octets[place..<(place + digits)] {
            guard let digit = Hex.value(octet) else { return nil }
            value = value << 4 | UInt32(digit)
        }
        return value
    }

    private static func text(_ value: UInt32) -> [UInt8]? {
        Unicode.Scalar(value).map { Array(String(Character($0)).utf8) }
    }

    private static let references: [String: UInt8] = [
        "amp": 0x26, "lt": 0x3C, "gt": 0x3E, "quot": 0x22, "apos": 0x27, "sol": 0x2F, "plus": 0x2B,
        "equals": 0x3D, "percnt": 0x25,
    ]
    /// Because: the name of none of these is longer, and a number may have leading zeros.
    private static let longestReference = 12
}
