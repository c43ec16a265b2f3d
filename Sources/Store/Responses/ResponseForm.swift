package import HTTPDNSCaching
internal import HTTPDNSExchange
internal import HTTPDNSWire

/// Heads of kept responses as octets. What is read back is checked as if a stranger had sent it.
package enum ResponseForm {
    package static func variant(_ variant: Variant) -> [UInt8] {
        var writer = WireWriter()
        writer.append(variant.isDecoded ? 1 as UInt8 : 0)
        // In one order: equal variants have equal octets.
        for (name, digest) in variant.selected.sorted(by: { $0.key < $1.key }) {
            append(Array(name.utf8), to: &writer)
            append(digest, to: &writer)
        }
        return writer.octets
    }

    package static func head(_ response: KeptResponse) -> [UInt8] {
        var writer = WireWriter()
        writer.append(UInt16(clamping: response.status))
        append(Array(response.version.rawValue.utf8), to: &writer)
        writer.append(
            (response.setsCookies ? cookieMark : 0) | (response.isOutdated ? outdatedMark : 0))
        append(response.receivedAt.wallSeconds, to: &writer)
        append(response.receivedAt.bootMilliseconds, to: &writer)
        append(Array(response.receivedAt.bootID.utf8), to: &writer)
        append(response.initialAgeSeconds, to: &writer)
        append(response.policy, to: &writer)
        writer.append(UInt32(clamping: response.fields.fields.count))
        for field in response.fields.fields {
            append(Array(field.name.utf8), to: &writer)
            append(field.text.wire, to: &writer)
        }
        return writer.octets
    }

    /// Nil when the octets are none of ours.
    package static func response(
        key: CacheKey, variant: [UInt8], head: [UInt8]
    ) -> KeptResponse? {
        do throws(WireError) {
            var reader = WireReader(head)
            let status = Int(try reader.uint16())
            guard (200...999).contains(status),
                let version = HTTPVersion(rawValue: try text(&reader))
            else { return nil }
            let marks = try reader.octet()
            let moment = CacheMoment(
                wallSeconds: try number(&reader), bootMilliseconds: try number(&reader),
                bootID: try text(&reader))
            let age = try number(&reader)
            let policy = try octets(&reader)
            var fields = HTTPFields()
            for _ in 0..<(try reader.uint32()) {
                let (name, value) = (try text(&reader), try octets(&reader))
                do { try fields.append(name, FieldText(octets: value)) } catch { return nil }
            }
            guard reader.remaining == 0, age >= 0, let variant = try self.variant(variant) else {
                return nil
            }
            var response = KeptResponse(
                key: key, variant: variant, status: status, version: version, fields: fields,
                receivedAt: moment, initialAgeSeconds: age, policy: policy)
            response.setsCookies = marks & cookieMark != 0
            response.isOutdated = marks & outdatedMark != 0
            return response
        } catch {
            return nil
        }
    }

    /// Because: a bit each of one octet, so that what was kept before has a meaning still.
    private static let cookieMark: UInt8 = 1
    private static let outdatedMark: UInt8 = 2

    private static func variant(_ stored: [UInt8]) throws(WireError) -> Variant? {
        var reader = WireReader(stored)
        var variant = Variant(selected: [:], isDecoded: try reader.octet() == 1)
        while reader.remaining > 0 {
            let name = try text(&reader)
            variant.selected[name] = try octets(&reader)
        }
        return variant
    }

    private static func append(_ octets: [UInt8], to writer: inout WireWriter) {
        writer.append(UInt32(clamping: octets.count))
        writer.append(contentsOf: octets)
    }

    private static func append(_ number: Int64, to writer: inout WireWriter) {
        let bits = UInt64(bitPattern: number)
        writer.append(UInt32(truncatingIfNeeded: bits >> 32))
        writer.append(UInt32(truncatingIfNeeded: bits))
    }

    private static func octets(_ reader: inout WireReader) throws(WireError) -> [UInt8] {
        Array(try reader.take(Int(try reader.uint32())))
    }

    private static func text(_ reader: inout WireReader) throws(WireError) -> String {
        String(decoding: try octets(&reader), as: UTF8.self)
    }

    private static func number(_ reader: inout WireReader) throws(WireError) -> Int64 {
        let high = UInt64(try reader.uint32())
        return Int64(bitPattern: high << 32 | UInt64(try reader.uint32()))
    }
}

/// A sum over the octets of a body, eight at a time: against accidents, not against a writer.
///
/// The full product of two words, both halves folded, moves every bit by every other; the same as
/// `KeyedHash`, with words that are fixed.
struct BodySum: Sendable, Hashable {
    private var state: UInt64 = 0x9E37_79B9_7F4A_7C15
    private var tail: UInt64 = 0
    private var tailCount = 0
    private var count: UInt64 = 0

    mutating func add(_ octets: UnsafeRawBufferPointer) {
        count &+= UInt64(octets.count)
        var index = 0
        while index < octets.count, tailCount != 0 {
            take(octets[index])
            index += 1
        }
        while octets.count - index >= 8 {
            fold(octets.loadUnaligned(fromByteOffset: index, as: UInt64.self))
            index += 8
        }
        while index < octets.count {
            take(octets[index])
            index += 1
        }
    }

    var value: Int64 {
        var end = self
        end.fold(tail)
        end.fold(count)
        return Int64(bitPattern: end.state)
    }

    private mutating func take(_ octet: UInt8) {
        tail |= UInt64(octet) << UInt64(8 * tailCount)
        tailCount += 1
        guard tailCount == 8 else { return }
        fold(tail)
        (tail, tailCount) = (0, 0)
    }

    private mutating func fold(_ word: UInt64) {
        // Odd, so that no bit of the word is lost in the low half.
        let (high, low) = (state ^ UInt64(littleEndian: word)).multipliedFullWidth(
            by: 0xD6E8_FEB8_6659_FD93)
        state = high ^ low
    }
}
