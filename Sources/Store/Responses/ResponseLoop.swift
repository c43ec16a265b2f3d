internal import HTTPDNSCaching
internal import HTTPDNSExchange
internal import HTTPDNSPlatform

/// What the thread of kept responses is told.
enum ResponseOrder: Sendable {
    typealias Choice = @Sendable ([KeptResponse]) -> KeptResponse?

    case find(CacheKey, Choice, @Sendable (FoundResponse?) -> Void)
    case begin(UInt64, KeptResponse)
    case write(UInt64, [UInt8])
    case finish(UInt64)
    case abandon(UInt64)
    case revise(
        CacheKey, @Sendable ([KeptResponse]) -> [KeptResponse],
        @Sendable (KeptResponse) -> KeptResponse?)
    case update(KeptResponse)
    case remove(KeptResponse)
    case removeKeys([CacheKey])
    case removeAll
    case flush(@Sendable () -> Void)
    case count(@Sendable (ResponseContents?) -> Void)
    case stop
}

/// What that thread does. All of it is confined to one thread.
///
/// Rules:
/// 1. A body is written to a file without a row, locked while it is; the row is made when the body
///    is whole. A process that is killed leaves a file that no row names, and nothing else.
/// 2. Files that no row names and nobody has locked are removed each time the table was opened.
/// 3. A row goes before its file; a file that is gone takes its row with it when it is looked for.
/// 4. What is removed while it is being written is not kept when it is whole.
/// 5. A body from before the machine was started anew is read whole and compared with its sum
///    before it is used again: what was written last may not have reached the disk.
struct ResponseLoop {
    let limits: ResponseLimits
    let clocks: StoreClocks
    let backlog: Backlog
    let report: @Sendable (StoreEvent) -> Void

    private let path: String
    private var care: FileCare<ResponseTable>
    private let bodiesPath: String
    private var directory: PrivateDirectory?
    private var tidiedOpening = 0
    private let pump = BodyPump()
    private var writing: [UInt64: Writing] = [:]
    /// Rows that were used, in order, and are not noted yet.
    private var touched: [Int64] = []
    private var isDiskFull = false

    /// One body that is being written.
    private struct Writing {
        let response: KeptResponse
        var file: PrivateBodyWriter?
        var octets: Int64 = 0
        var sum = BodySum()
        /// It will not be kept.
        var isDoomed = false
    }

    init(
        directory: String, limits: ResponseLimits, clocks: StoreClocks,
        monotonic: any MonotonicSource, backlog: Backlog,
        report: @escaping @Sendable (StoreEvent) -> Void
    ) {
        self.limits = limits
        self.clocks = clocks
        self.backlog = backlog
        self.report = report
        path = directory + "/responses.db"
        bodiesPath = directory + "/bodies"
        care = FileCare(path: path, clocks: clocks, monotonic: monotonic, report: report) {
            (path) throws(DatabaseFault) in try ResponseTable(path)
        }
    }

    /// False after the last order.
    mutating func obey(_ order: ResponseOrder) -> Bool {
        switch order {
        case .find(let key, let choose, let found): found(find(key, choose))
        case .begin(let id, let response): writing[id] = Writing(response: response)
        case .write(let id, let octets): write(octets, to: id)
        case .finish(let id): finish(id)
        case .abandon(let id): giveUp(id)
        case .revise(let key, let choose, let change):
            for kept in choose(variants(of: key).map(\.1)) {
                if let changed = change(kept) { update(changed) } else { remove(kept) }
            }
        case .update(let response): update(response)
        case .remove(let response): remove(response)
        case .removeKeys(let keys): remove(keys)
        case .removeAll:
            for id in writing.keys { doom(id) }
            touched = []
            discard { table throws(DatabaseFault) in try table.removeAll() }
        case .flush(let done):
            noteUse()
            done()
        case .count(let tell): tell(contents())
        case .stop:
            noteUse()
            for id in writing.keys { giveUp(id) }
            care.close()
            return false
        }
        if tidiedOpening != care.openings { tidy() }
        return true
    }

    /// Because: noting use costs a write; as many uses as this are noted in one.
    private static let maximumTouched = 64
}

// Finding
extension ResponseLoop {
    private mutating func variants(of key: CacheKey) -> [(ResponseRow, KeptResponse)] {
        let octets = Array(key.text.utf8)
        let found = care.attempt { table throws(DatabaseFault) in
            try table.find(octets).map { row throws(DatabaseFault) in
                guard
                    var response = ResponseForm.response(
                        key: key, variant: row.variant, head: row.head)
                else { throw .damaged("a head of another form") }
                response.number = row.number
                response.bodyOctets = row.bodyOctets
                return (row, response)
            }
        }
        return found ?? []
    }

    private mutating func find(
        _ key: CacheKey, _ choose: ResponseOrder.Choice
    ) -> FoundResponse? {
        var variants = variants(of: key)
        while let chosen = choose(variants.map(\.1)),
            let row = variants.first(where: { $0.1.number == chosen.number })?.0
        {
            do throws(PrivateBodyReader.Fault) {
                let body = try body(of: row)
                use(row.number)
                return FoundResponse(response: chosen, body: body)
            } catch {
                guard error == .gone else { return nil }
                remove(chosen)
            }
            variants.removeAll { $0.1.number == chosen.number }
        }
        return nil
    }

    /// - Throws: ``PrivateBodyReader/Fault/gone`` also when it is not what was written.
    private mutating func body(
        of row: ResponseRow
    ) throws(PrivateBodyReader.Fault) -> KeptBodyFile {
        guard !row.body.isEmpty else {
            guard row.bodyOctets == 0 else { throw .gone }
            return KeptBodyFile(nil, octets: 0, pump: pump)
        }
        let name = String(decoding: row.body, as: UTF8.self)
        guard let directory = prepared() else { throw .gone }
        let file = try PrivateBodyReader(name, in: directory, octets: row.bodyOctets)
        let boot = Array(clocks.now().bootID.utf8)
        if boot.isEmpty || row.boot != boot {
            guard ResponseLoop.sum(of: file, octets: row.bodyOctets) == row.bodySum else {
                throw .gone
            }
            let limit = limits.maximumOctets
            discard { table throws(DatabaseFault) in
                try table.update(row.number, limit: limit) { $0.boot = boot }
            }
        }
        return KeptBodyFile(file, octets: row.bodyOctets, pump: pump)
    }

    private static func sum(of file: PrivateBodyReader, octets: Int64) -> Int64? {
        var sum = BodySum()
        var offset: Int64 = 0
        var piece = [UInt8](repeating: 0, count: 65_536)
        while offset < octets {
            let count = piece.withUnsafeMutableBytes { buffer -> Int? in
                guard let count = file.read(at: offset, into: buffer), count > 0 else { return nil }
                sum.add(UnsafeRawBufferPointer(rebasing: buffer.prefix(count)))
                return count
            }
            guard let count else { return nil }
            offset += Int64(count)
        }
        return sum.value
    }

    private mutating func use(_ number: Int64) {
        touched.append(number)
        if touched.count >= ResponseLoop.maximumTouched { noteUse() }
    }

    private mutating func noteUse() {
        guard !touched.isEmpty else { return }
        let numbers = touched
        touched = []
        care.attempt { table throws(DatabaseFault) in try table.touch(numbers) }
    }

    private mutating func contents() -> ResponseContents? {
        care.attempt { table throws(DatabaseFault) in try table.contents() }.map {
            ResponseContents(responses: Int(clamping: $0.responses), octets: $0.octets)
        }
    }
}

// Keeping
extension ResponseLoop {
    private mutating func write(_ octets: [UInt8], to id: UInt64) {
        defer { backlog.done(octets.count) }
        guard var entry = writing[id], !entry.isDoomed else { return }
        let (sum, overflow) = entry.octets.addingReportingOverflow(Int64(octets.count))
        guard !overflow, sum <= limits.largestBodyOctets else { return doom(id) }
        do throws(PrivateFile.Refusal) {
            if entry.file == nil {
                guard let directory = prepared() else { return doom(id) }
                entry.file = try PrivateBodyWriter(in: directory)
            }
            try entry.file?.write(octets)
        } catch {
            doom(id, with: entry.file)
            tellFull(error.description)
            return
        }
        entry.octets = sum
        octets.withUnsafeBytes { entry.sum.add($0) }
        writing[id] = entry
    }

    private mutating func finish(_ id: UInt64) {
        guard let entry = writing.removeValue(forKey: id), !entry.isDoomed else { return }
        let row = ResponseRow(
            key: Array(entry.response.key.text.utf8),
            variant: ResponseForm.variant(entry.response.variant),
            head: ResponseForm.head(entry.response),
            body: entry.file.map { Array($0.name.utf8) } ?? [], bodyOctets: entry.octets,
            bodySum: entry.sum.value, boot: Array(clocks.now().bootID.utf8))
        noteUse()
        let limit = limits.maximumOctets
        guard row.size <= limit, row.fits else { return remove(entry.file) }
        let doomed = care.attempt { table throws(DatabaseFault) in
            try table.add(row, limit: limit)
        }
        guard let doomed else { return remove(entry.file) }
        isDiskFull = false
        removeBodies(doomed)
    }

    private mutating func giveUp(_ id: UInt64) {
        guard let entry = writing.removeValue(forKey: id) else { return }
        remove(entry.file)
    }

    private mutating func doom(_ id: UInt64, with file: PrivateBodyWriter? = nil) {
        guard let entry = writing[id] else { return }
        remove(entry.file ?? file)
        writing[id] = Writing(response: entry.response, isDoomed: true)
    }

    private mutating func remove(_ file: PrivateBodyWriter?) {
        if let file { prepared()?.remove(file.name) }
    }

    private mutating func update(_ response: KeptResponse) {
        let head = ResponseForm.head(response)
        let limit = limits.maximumOctets
        discard { table throws(DatabaseFault) in
            try table.update(response.number, limit: limit) { $0.head = head }
        }
    }

    private mutating func remove(_ response: KeptResponse) {
        discard { table throws(DatabaseFault) in try table.remove(number: response.number) }
    }

    private mutating func remove(_ keys: [CacheKey]) {
        for key in keys {
            for (id, entry) in writing where entry.response.key == key { doom(id) }
            let octets = Array(key.text.utf8)
            discard { table throws(DatabaseFault) in try table.remove(key: octets) }
        }
    }

    private mutating func discard(
        _ body: (ResponseTable) throws(DatabaseFault) -> [[UInt8]]
    ) {
        removeBodies(care.attempt(body) ?? [])
    }

    private mutating func removeBodies(_ names: [[UInt8]]) {
        guard !names.isEmpty, let directory = prepared() else { return }
        for name in names { directory.remove(String(decoding: name, as: UTF8.self)) }
    }

    /// The directory of the bodies; made with the table, so that its parent is there.
    private mutating func prepared() -> PrivateDirectory? {
        if let directory { return directory }
        guard care.attempt({ _ throws(DatabaseFault) in }) != nil else { return nil }
        do throws(PrivateFile.Refusal) {
            directory = try PrivateDirectory(bodiesPath)
        } catch { tellFull(error.description) }
        return directory
    }

    /// Told once, until something can be kept again.
    private mutating func tellFull(_ why: String) {
        // The directory itself may have gone.
        directory = nil
        guard !isDiskFull else { return }
        isDiskFull = true
        report(.quiet(path: bodiesPath, because: why))
    }

    /// Removes what a killed process left, and what is above the limit.
    private mutating func tidy() {
        tidiedOpening = care.openings
        let limit = limits.maximumOctets
        discard { table throws(DatabaseFault) in try table.shrink(to: limit) }
        guard let directory = prepared(),
            let known = care.attempt({ table throws(DatabaseFault) in try table.bodies() })
        else { return }
        for name in directory.names where !known.contains(name) {
            directory.remove(name) {
                // A writer may have finished since the names were read.
                care.attempt { table throws(DatabaseFault) in
                    try table.isKept(body: name)
                } ?? true
            }
        }
    }
}
