// Tokens that are known by their form, and by where they stand
extension TextScanner {
    /// A word has grown: it may be a token, or too long to be held.
    mutating func grown(_ out: inout [UInt8]) {
        noteToken()
        if let token, token.form.isOne(meant[token.meant...]) {
            out += written.prefix(token.written)
            put(SecretNames.placeholder, &out)
            return drop(token.form.isWeb ? .token : .run)
        }
        guard meant.count > TextScanner.mostHeld else { return }
        isLong = true
        // A token may just begin.
        let rest = token.map { written.count - $0.written } ?? TokenForm.begun(at: written)
        out += written.dropLast(rest)
        written = Array(written.suffix(rest))
        meant = written
        if let form = token?.form { token = (form, 0, 0) }
    }

    private mutating func noteToken() {
        guard let last = meant.last else { return }
        if meant.count == 1, path.isBusy, let form = path.beginWord() { token = (form, 0, 0) }
        if let open = token {
            let isOpen = open.form.permits(last) && open.form.isOpen(meant[open.meant...])
            if !isOpen { token = nil }
        }
        guard token?.form.isVague != false, let form = TokenForm.beginning(at: meant) else {
            return
        }
        let size = form.mark.count
        let place = meant.count - size
        let isBoundary =
            place == 0 || !TextScanner.isAlphanumeric(meant[place - 1])
            || (place >= 3 && meant[place - 3] == 0x25)
            || (before == 0x5C && place == 1)
        guard isBoundary else { return }
        // Where it is written otherwise, all of the word belongs to it.
        let isPlain = written.suffix(size) == form.mark[...]
        token = (form, place, isPlain ? written.count - size : 0)
    }

    /// The second field of a line of cookies may have come, also behind an escaped tab.
    mutating func beginJar(_ name: [UInt8], _ mark: UInt8, _ octet: UInt8) {
        let isBehindTab = mark == 0x5C && isString && name.first == 0x74
        guard !jar.isBusy, JarPlace.begins(isBehindTab ? name.dropFirst() : name[...]) else {
            return
        }
        jar.enter(behindTab: octet == 0x09)
    }

    /// True when the octet has gone out, and the value of a cookie is left out behind it.
    mutating func followsJar(_ octet: UInt8, _ raw: Written?, _ out: inout [UInt8]) -> Bool {
        guard jar.take(octet, slashes: slashes, isString: isString) else { return false }
        if case .dropping = state { return false }
        if case .indenting(isValueWritten: true) = state { return false }
        settle(&out)
        out += written
        put(octet, raw, &out)
        put(SecretNames.placeholder, &out)
        form = ValueForm()
        form.enclosing = place.quote
        valueDepth = TextScanner.depthInText(raw)
        drop(.line)
        return true
    }
}
