// What tags, private keys and parts of forms mean for what is left out
extension TextScanner {
    /// True when the octet has gone out with what the mark of a private key means, or is left out.
    mutating func follows(
        _ event: KeyArmour.Event, _ octet: UInt8, _ raw: Written?, _ out: inout [UInt8]
    ) -> Bool {
        switch (event, state) {
        case (.nothing, _): return false
        case (.ends, .dropping(.key)):
            put("-----END", &out)
            before = octet
            state = .word
        case (.begins, .dropping(.bare)), (.begins, .dropping(.line)),
            (.begins, .dropping(.flow)), (.begins, .dropping(.token)), (.begins, .dropping(.run)),
            (.begins, .dropping(.authority)),
            (.begins, .indenting(isValueWritten: true)):
            drop(.key)
        case (.begins, .dropping), (.ends, _): return false
        case (.begins, .authority), (.begins, .probing):
            settle(&out)
            return follows(event, octet, raw, &out)
        case (.begins, _):
            out += written
            put(octet, raw, &out)
            put(SecretNames.placeholder, &out)
            drop(.key)
        }
        return true
    }

    /// True when the octet has gone out with what a part of a form means, or is left out.
    mutating func followsPart(
        _ octet: UInt8, _ raw: Written?, _ out: inout [UInt8]
    ) -> Bool {
        let event = part.take(octet, raw, slashes: slashes, isString: isString, names)
        switch (event, state) {
        case (.nothing, _): return false
        case (.ends, .dropping(.part)):
            out += part.tail
            put("--", &out)
            before = octet
            state = .word
        case (.ends, _): return false
        case (.begins, .dropping(.bare)), (.begins, .dropping(.line)),
            (.begins, .indenting(isValueWritten: true)):
            out += [UInt8](repeating: 0x5C, count: slashes)
            put(octet, raw, &out)
            put(SecretNames.placeholder, &out)
            drop(.part)
        case (.begins, .dropping):
            part.leave()
            return false
        case (.begins, _):
            settle(&out)
            out += written
            put(octet, raw, &out)
            put(SecretNames.placeholder, &out)
            drop(.part)
        }
        return true
    }

    /// True when the octet has gone out with what the tag means.
    mutating func follows(
        _ event: TagTracker.Event, _ octet: UInt8, _ raw: Written?, _ out: inout [UInt8]
    ) -> Bool {
        switch (event, state) {
        case (.nothing, _): return false
        case (.closes, .dropping(.element)):
            put(0x3C, opening, &out)
            put(octet, raw, &out)
            before = octet
            state = .word
            return true
        case (.closes, _), (.opens(.clear), _), (.opens, .dropping(.field)),
            (.opens, .dropping(.quoted)), (.opens, .dropping(.nested)),
            (.opens, .dropping(.element)), (.opens, .dropping(.line)), (.opens, .dropping(.flow)),
            (.opens, .dropping(.key)), (.opens, .indenting(isValueWritten: true)):
            return false
        case (.begins, .dropping), (.begins, .indenting(isValueWritten: true)): return false
        case (.opens, .authority), (.opens, .probing), (.begins, .authority), (.begins, .probing):
            settle(&out)
            return follows(event, octet, raw, &out)
        case (.begins(let verdict), _):
            out += written
            clearHeld()
            guard verdict == .secret else {
                begin(.before(verdict, isOfForm: false), raw, ValueForm())
                return false
            }
            put(SecretNames.placeholder, &out)
            drop(.element)
            tags.enter()
            return true
        case (.opens(let verdict), _):
            out += written
            put(octet, raw, &out)
            before = octet
            if verdict == .secret {
                put(SecretNames.placeholder, &out)
                drop(.element)
                tags.enter()
            } else {
                clearHeld()
                begin(.before(verdict, isOfForm: false), raw, ValueForm())
            }
            return true
        }
    }
}
