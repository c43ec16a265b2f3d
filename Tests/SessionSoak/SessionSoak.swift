import Foundation
import FoundationNetworking
import HTTPDNSNames
import HTTPDNSPinLab
import HTTPDNSPlatform
import HTTPDNSURLSession
import TestSupport

/// Runs the phases one after the other: many tasks under faults, many at once, one large body each way.
struct SessionSoak {
    private let options: SessionSoakOptions

    init(_ options: SessionSoakOptions) { self.options = options }

    /// - Returns: what was not as it must be.
    func run() async throws -> [String] {
        let files = FileManager.default.temporaryDirectory.path
        let before = downloads(in: files)
        var faults: [String] = []
        if options.tasks > 0 { faults += try await storm() }
        if options.atOnce > 0 { faults += try await crowd() }
        if options.mebibytes > 0 {
            faults += try await LargeBodies(options).run()
        }
        let left = downloads(in: files) - before
        if left > 0 { faults.append("\(left) files of downloads are left in \(files)") }
        return faults
    }

    private func downloads(in directory: String) -> Int {
        let names = try? FileManager.default.contentsOfDirectory(atPath: directory)
        return (names ?? []).filter { $0.hasPrefix("httpdns-download-") }.count
    }

    // MARK: Many tasks under faults

    private func storm() async throws -> [String] {
        let root = try TestAuthority()
        let server = try LabServer(
            security: .tls(try root.leaf([.dns(SoakOrigin.host)])), handler: SoakOrigin.answer)
        try server.start()
        defer { server.stop() }
        let ledger = SessionLedger()
        let delegate = SoakDelegate(ledger)
        let configuration = URLSessionConfiguration.ephemeral
        configuration.timeoutIntervalForRequest = Double(options.timeoutSeconds)
        let session = try SessionSoak.httpdns(trusting: root).session(
            configuration: configuration, delegate: delegate)
        let directory = try TemporaryDirectory()
        let file = URL(fileURLWithPath: directory.path + "/body")
        try SoakOrigin.upload.write(to: file)
        let maker = TaskMaker(
            session: session, delegate: delegate, ledger: ledger, port: server.port.number,
            file: file)
        var numbers = SeededNumbers(seed: options.seed)
        let started = Date()
        var usage: [Usage] = []
        for number in 0..<options.tasks {
            let task = SoakedTask(number, &numbers)
            ledger.began(task)
            maker.begin(task)
            await wait(ledger, until: number + 1 - options.width)
            if number % max(options.tasks / 10, 1) == 0 {
                server.forget()
                usage.append(.now(isTrimmed: true))
                say("\(number) begun, \(ledger.told) told, \(usage.last?.mebibytes ?? "") MiB")
            }
        }
        await wait(ledger, until: options.tasks)
        session.finishTasksAndInvalidate()
        let seconds = Int(Date().timeIntervalSince(started))
        say("\(ledger.told) of \(options.tasks) told in \(seconds) s: \(ledger.words)")
        var faults = ledger.faults
        faults += ledger.untold.map { "\($0) was never told its end" }
        server.forget()
        usage.append(.now(isTrimmed: true))
        let (early, late) = (usage[usage.count / 3], usage[usage.count - 1])
        say("memory: \(early.mebibytes) MiB after a third, \(late.mebibytes) MiB at the end")
        if late.residentOctets > early.residentOctets + early.residentOctets / 10 + 8 << 20 {
            faults.append("the process grew")
        }
        return faults
    }

    /// Until so many were told; not for ever.
    private func wait(_ ledger: SessionLedger, until count: Int) async {
        while ledger.told < count {
            guard Date().timeIntervalSince(ledger.lastEnd) < SessionSoak.patienceSeconds else {
                return ledger.fault("nobody was told anything for a minute: tasks hang")
            }
            await pause(milliseconds: 1)
        }
    }

    /// Because: twenty times the time-out of a task.
    private static let patienceSeconds = 60.0

    // MARK: Many at once

    private func crowd() async throws -> [String] {
        let server = try await offPool { try NginxServer(names: [SoakOrigin.host]) }
        let faults = try await crowd(server, "HTTP/2", server.http2.number)
        return try await faults + crowd(server, "HTTP/1.1", server.http1.number)
    }

    private func crowd(
        _ server: NginxServer, _ name: String, _ port: UInt16
    ) async throws -> [String] {
        let session = try SessionSoak.httpdns(trusting: server.authority).session(
            configuration: .ephemeral)
        let page = "https://\(SoakOrigin.host):\(port)/"
        guard let url = URL(string: page) else { return ["no URL"] }
        let started = Date()
        let words = await withTaskGroup(of: String.self, returning: [String: Int].self) { group in
            for number in 0..<options.atOnce {
                group.addTask {
                    do {
                        guard number % 2 == 0 else {
                            return "\(try await session.data(from: url).0.count) octets"
                        }
                        return try await withCheckedThrowingContinuation { waiter in
                            session.dataTask(with: url) { data, _, error in
                                waiter.resume(
                                    with: error.map { .failure($0) }
                                        ?? .success("\(data?.count ?? 0) octets"))
                            }.resume()
                        }
                    } catch { return "\(error.localizedDescription)" }
                }
            }
            return await group.reduce(into: [:]) { $0[$1, default: 0] += 1 }
        }
        let milliseconds = Int(Date().timeIntervalSince(started) * 1_000)
        say("\(options.atOnce) at once over \(name) in \(milliseconds) ms: \(words)")
        return words.count == 1 && words.keys.first?.hasSuffix("octets") == true
            ? [] : ["not all of \(options.atOnce) tasks at once were answered alike: \(words)"]
    }

    static func httpdns(trusting root: TestAuthority) throws -> HTTPDNS {
        var configuration = HTTPDNSConfiguration()
        configuration.resolvers = []
        configuration.overrides = [try HostName(SoakOrigin.host): [LabAddress.ipv4]]
        configuration.trust = TrustPolicy(roots: .pem(root.certificatePEM))
        return try HTTPDNS(configuration)
    }
}

/// Makes and meddles with the tasks that were drawn.
struct TaskMaker: Sendable {
    let session: URLSession
    let delegate: SoakDelegate
    let ledger: SessionLedger
    let port: UInt16
    let file: URL

    func begin(_ task: SoakedTask) {
        let text = "https://\(SoakOrigin.host):\(port)/\(task.fault.rawValue)/"
        guard let url = URL(string: text) else { return }
        var request = URLRequest(url: url)
        if task.kind != .data, task.kind != .download { request.httpMethod = "POST" }
        switch task.style {
        case .async: beginAsync(task, request)
        case .handler: meddle(task, with: withHandler(task, request))
        case .delegate:
            let made = delegated(task, request)
            delegate.expect(task, as: made.taskIdentifier)
            meddle(task, with: made)
        }
    }

    private func withHandler(_ task: SoakedTask, _ request: URLRequest) -> URLSessionTask {
        let told: @Sendable (Data?, URLResponse?, (any Error)?) -> Void = { data, _, error in
            ledger.ended(task, error, body: data)
        }
        return switch task.kind {
        case .data, .uploadStream: session.dataTask(with: request, completionHandler: told)
        case .uploadData:
            session.uploadTask(with: request, from: SoakOrigin.upload, completionHandler: told)
        case .uploadFile:
            session.uploadTask(with: request, fromFile: file, completionHandler: told)
        case .download:
            session.downloadTask(with: request) { url, _, error in
                ledger.ended(task, error, body: url.flatMap { try? Data(contentsOf: $0) })
            }
        }
    }

    private func delegated(_ task: SoakedTask, _ request: URLRequest) -> URLSessionTask {
        switch task.kind {
        case .data: session.dataTask(with: request)
        case .uploadData: session.uploadTask(with: request, from: SoakOrigin.upload)
        case .uploadFile: session.uploadTask(with: request, fromFile: file)
        case .uploadStream: session.uploadTask(withStreamedRequest: request)
        case .download: session.downloadTask(with: request)
        }
    }

    private func beginAsync(_ task: SoakedTask, _ request: URLRequest) {
        let running = Task {
            do {
                let data: Data
                switch task.kind {
                case .data, .uploadStream: data = try await session.data(for: request).0
                case .uploadData:
                    data = try await session.upload(for: request, from: SoakOrigin.upload).0
                case .uploadFile:
                    data = try await session.upload(for: request, fromFile: file).0
                case .download:
                    let url = try await session.download(for: request).0
                    data = try Data(contentsOf: url)
                    try FileManager.default.removeItem(at: url)
                }
                ledger.ended(task, nil, body: data)
            } catch { ledger.ended(task, error, body: nil) }
        }
        guard task.meddling == .cancel || task.meddling == .suspendAndCancel else { return }
        later(task.afterMicroseconds) { running.cancel() }
    }

    private func meddle(_ task: SoakedTask, with made: URLSessionTask) {
        made.resume()
        let shared = SharedTask(task: made)
        later(task.afterMicroseconds) {
            switch task.meddling {
            case .none: break
            case .cancel: shared.task.cancel()
            case .resumeTwice: shared.task.resume()
            case .suspend:
                shared.task.suspend()
                later(task.afterMicroseconds) { shared.task.resume() }
            case .suspendAndCancel:
                shared.task.suspend()
                later(task.afterMicroseconds) { shared.task.cancel() }
            }
        }
    }

    private func later(_ microseconds: Int, _ work: @escaping @Sendable () -> Void) {
        DispatchQueue.global().asyncAfter(deadline: .now() + .microseconds(microseconds)) {
            work()
        }
    }
}

private struct SharedTask: @unchecked Sendable {
    // Safety: a task may be cancelled, suspended and resumed from any thread.
    let task: URLSessionTask
}
