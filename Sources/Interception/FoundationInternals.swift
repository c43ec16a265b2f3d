internal import CHTTPDNSSystem
internal import Dispatch
internal import Foundation
internal import HTTPDNSPlatform
@_spi(Reflection) internal import Swift

#if canImport(FoundationNetworking)
    internal import FoundationNetworking
#endif

// Everything that this library does with Foundation's internals stands in this file. Each reading
// fails closed: where a field is not found, the caller gets nil and refuses that kind of task.
// Checked with swift-corelibs-foundation 6.3.1; see docs/platform.md.

/// The dispatch queue that a URLProtocol's client must be called on.
///
/// Client calls read the session's task registry without a lock: from another queue they crash.
struct WorkQueue: @unchecked Sendable {
    // Safety: a dispatch queue may be used from any thread; the reference is counted by `owner`.
    private let owner: Owner

    private final class Owner {
        let queue: UnsafeMutableRawPointer

        init(_ queue: UnsafeMutableRawPointer) { self.queue = queue }

        deinit { httpdns_queue_release(queue) }
    }

    /// The queue this is called on; nil off a queue. To be called in `startLoading`.
    static func current() -> WorkQueue? {
        httpdns_current_queue_retained().map { WorkQueue(owner: Owner($0)) }
    }

    func async(_ work: @escaping @Sendable () -> Void) {
        let box = Unmanaged.passRetained(Work(work))
        httpdns_queue_async(owner.queue, box.toOpaque(), runWork)
    }
}

private final class Work: Sendable {
    let body: @Sendable () -> Void

    init(_ body: @escaping @Sendable () -> Void) { self.body = body }
}

/// Called once on the work queue; takes over the reference made in `async`.
private func runWork(_ context: UnsafeMutableRawPointer?) {
    guard let context else { return }
    Unmanaged<Work>.fromOpaque(context).takeRetainedValue().body()
}

/// How a task hands its body to the application.
enum DeliveryStyle: Sendable {
    /// A delegate takes chunks.
    case delegate
    /// A completion handler or an async call takes one whole body: Foundation keeps only the last
    /// chunk it was given.
    case whole
    /// A download, which wants a file. It is taken away after the callback, unless an async call's
    /// caller gets it.
    case download(isKept: Bool)
}

/// Where the body of a task comes from.
enum TaskBody {
    case none
    case data(Data)
    case pieces(DispatchData)
    case stream(InputStream)
    case file(URL)
    /// The delegate is to give it: `uploadTask(withStreamedRequest:)`; else the request's own.
    case asked(InputStream?)
    /// An upload whose body cannot be found.
    case unreadable
}

/// A dictionary by names of Foundation's own, as `URLProtocol.properties` is.
private protocol KeyedByName {
    static func put(_ value: Any, under name: String, at place: UnsafeMutableRawPointer) -> Bool
    static func value(under name: String, at place: UnsafeMutableRawPointer) -> Any?
}

extension Dictionary: KeyedByName
where Key: RawRepresentable, Key.RawValue == String, Value == Any {
    fileprivate static func put(
        _ value: Any, under name: String, at place: UnsafeMutableRawPointer
    ) -> Bool {
        guard let key = Key(rawValue: name) else { return false }
        place.assumingMemoryBound(to: Self.self).pointee[key] = value
        return true
    }

    fileprivate static func value(
        under name: String, at place: UnsafeMutableRawPointer
    ) -> Any? {
        Key(rawValue: name).flatMap { place.assumingMemoryBound(to: Self.self).pointee[$0] }
    }
}

/// Where Foundation's objects keep what has no public way in. Each nil where the name or the type is
/// not as expected.
private struct FieldPlaces: Sendable {
    var inlineFlag: Int?
    var statusQueue: Int?
    var response: Int?
    var request: Int?
    var error: Int?
    var received: Int?
    var sent: Int?
    var expectedToReceive: Int?
    var expectedToSend: Int?
    var session: Int?

    /// Read once: the fields of `URLSessionTask` lie alike in all kinds of tasks.
    static let ofTask = FieldPlaces(URLSessionTask.self)
    static let properties = FieldPlaces.places(in: URLProtocol.self)["properties"]

    private init(_ type: AnyClass) {
        let places = FieldPlaces.places(in: type)
        func place<Value>(_ name: String, _ type: Value.Type) -> Int? {
            places[name].flatMap { $0.kind == type ? $0.offset : nil }
        }
        inlineFlag = place(TaskInternals.inlineFlag, Bool.self)
        statusQueue = place("syncQ", DispatchQueue.self)
        response = place("_response", URLResponse?.self)
        request = place("_currentRequest", URLRequest?.self)
        error = place("error", (any Error)?.self)
        received = place("_countOfBytesReceived", Int64.self)
        sent = place("_countOfBytesSent", Int64.self)
        expectedToReceive = place("countOfBytesExpectedToReceive", Int64.self)
        expectedToSend = place("countOfBytesExpectedToSend", Int64.self)
        // A reference and a witness table: the reference is read alone.
        session = places["session"].flatMap {
            "\($0.kind)" == "Optional<URLSessionProtocol>" && FieldPlaces.size(of: $0.kind) == 16
                ? $0.offset : nil
        }
    }

    private static func size(of kind: any Any.Type) -> Int {
        func size<Kind>(_: Kind.Type) -> Int { MemoryLayout<Kind>.size }
        return _openExistential(kind, do: size)
    }

    fileprivate static func places(
        in type: AnyClass
    ) -> [String: (offset: Int, kind: any Any.Type)] {
        var places: [String: (offset: Int, kind: any Any.Type)] = [:]
        // 1 is `classType`; the named constant is not concurrency-safe to read in Swift 6.3.
        let options = _EachFieldOptions(rawValue: 1)
        _ = _forEachField(of: type, options: options) { label, offset, kind, _ in
            places[String(cString: label)] = (offset, kind)
            return true
        }
        return places
    }
}

/// A dictionary by task number whose values, an enumeration, have a type of Foundation's own. A cast to
/// `[Int: Any]` would copy all of it for each task.
private protocol KeyedByNumber {
    static func value(at key: Int, in place: UnsafeMutableRawPointer) -> Behaviour?
}

/// How a task reports: the kind of the case, and the case with what it holds where that is a delegate.
private struct Behaviour {
    let kind: BehaviourKind
    let value: Any?
}

/// What the name of a case says.
private struct BehaviourKind {
    let callsDelegate: Bool
    let isDownloadHandler: Bool
    let hasOwnDelegate: Bool

    init(named name: String) {
        callsDelegate = name == "callDelegate"
        isDownloadHandler = name == "downloadCompletionHandler"
        hasOwnDelegate = name.hasSuffix("WithTaskDelegate")
    }
}

/// The kinds by the number that the compiler gives each case: the name is asked for once.
private let knownBehaviours = Locked([UInt32: BehaviourKind]())

extension Dictionary: KeyedByNumber where Key == Int {
    fileprivate static func value(
        at key: Int, in place: UnsafeMutableRawPointer
    ) -> Behaviour? {
        guard let value = place.assumingMemoryBound(to: Self.self).pointee[key],
            let kind = kind(of: value)
        else { return nil }
        return Behaviour(kind: kind, value: kind.hasOwnDelegate ? value : nil)
    }

    private static func kind(of value: Value) -> BehaviourKind? {
        guard let tag = enumTag(of: value) else { return nil }
        if let known = knownBehaviours.withLock({ $0[tag] }) { return known }
        guard let name = enumCaseName(value) else { return nil }
        let kind = BehaviourKind(named: String(cString: name))
        knownBehaviours.withLock { $0[tag] = kind }
        return kind
    }
}

/// The number of an enumeration's case; nil for other values.
///
/// Source: Swift's ABI, TypeMetadata.rst (the kind of a type, and where its value witnesses are) and
/// ValueWitness.def (what they are: those of an enumeration stand behind the eight functions, two sizes
/// and two counts that all have).
private func enumTag<Value>(of value: Value) -> UInt32? {
    let metadata = unsafeBitCast(Value.self, to: UnsafeRawPointer.self)
    guard metadata.load(as: UInt.self) == 0x201 else { return nil }
    let witnesses = (metadata - 8).load(as: UnsafeRawPointer.self)
    guard (witnesses + 80).load(as: UInt32.self) & 0x20_0000 != 0 else { return nil }
    typealias Witness = @convention(c) (UnsafeRawPointer, UnsafeRawPointer) -> UInt32
    let witness = (witnesses + 88).load(as: Witness.self)
    return withUnsafePointer(to: value) { witness($0, metadata) }
}

/// The name of an enumeration's case; nil for other values. A `Mirror` takes ten times as long.
///
/// Source: the Swift runtime, ReflectionMirror.cpp, part of its ABI.
@_silgen_name("swift_EnumCaseName")
private func enumCaseName<Value>(_ value: Value) -> UnsafePointer<CChar>?

/// Where a session keeps how its tasks report. Nil where a name or a type is not as expected.
private struct BehaviourPlace: @unchecked Sendable {
    // Safety: a metatype never changes; that of a dictionary needs no thread of its own.
    let registry: Int
    let behaviours: Int
    let kind: any KeyedByNumber.Type

    /// Read once: there is one kind of session.
    static let known = BehaviourPlace()

    private init?() {
        guard let registry = FieldPlaces.places(in: URLSession.self)["taskRegistry"],
            let type = registry.kind as? AnyClass,
            let behaviours = FieldPlaces.places(in: type)["behaviours"],
            let kind = behaviours.kind as? any KeyedByNumber.Type
        else { return nil }
        self.registry = registry.offset
        self.behaviours = behaviours.offset
        self.kind = kind
    }

    func behaviour(of task: URLSessionTask, in session: URLSession) -> Behaviour? {
        let base = Unmanaged.passUnretained(session).toOpaque()
        let registry = (base + registry).assumingMemoryBound(to: AnyObject.self).pointee
        let place = Unmanaged.passUnretained(registry).toOpaque() + behaviours
        return withExtendedLifetime(registry) { kind.value(at: task.taskIdentifier, in: place) }
    }
}

/// Reads what URLSessionTask does not show.
package enum TaskInternals {
    /// The session a task belongs to.
    static func session(of task: URLSessionTask) -> URLSession? {
        guard let place = FieldPlaces.ofTask.session else { return nil }
        let base = Unmanaged.passUnretained(task).toOpaque()
        return (base + place).assumingMemoryBound(to: AnyObject?.self).pointee as? URLSession
    }

    /// How a task reports.
    struct Manner {
        let style: DeliveryStyle
        /// No completion handler and no async call waits: the session's delegate is told.
        let callsDelegate: Bool
        /// The case that may hold a delegate.
        fileprivate var holder: Any?

        /// The delegate that was given to an async call, which is not in `task.delegate`. Looked for
        /// when somebody is to be asked: it takes longer than all else that is read of a task.
        var delegate: (any URLSessionTaskDelegate)? { holder.flatMap { ownDelegate($0) } }
    }

    static func manner(of task: URLSessionTask, in session: URLSession) -> Manner {
        let behaviour = BehaviourPlace.known?.behaviour(of: task, in: session)
        let holder = behaviour?.value
        let callsDelegate = behaviour?.kind.callsDelegate == true
        if task is URLSessionDownloadTask {
            // Where it is not known which kind of call it is, a file too many does no harm.
            let isKept = !callsDelegate && behaviour?.kind.isDownloadHandler != true
            return Manner(
                style: .download(isKept: isKept), callsDelegate: callsDelegate, holder: holder)
        }
        return Manner(
            style: callsDelegate ? .delegate : .whole, callsDelegate: callsDelegate, holder: holder)
    }

    fileprivate static func ownDelegate(_ behaviour: Any) -> (any URLSessionTaskDelegate)? {
        guard let values = payload(of: behaviour) else { return nil }
        for child in Mirror(reflecting: values).children {
            if let delegate = unwrapped(child.value) as? any URLSessionTaskDelegate {
                return delegate
            }
        }
        return nil
    }

    /// The body of a request or an upload task: an upload's own counts before what its request holds.
    static func body(of task: URLSessionTask, _ request: URLRequest) -> TaskBody {
        guard task is URLSessionUploadTask else {
            if let data = request.httpBody { return .data(data) }
            return request.httpBodyStream.map { .stream($0) } ?? .none
        }
        guard let field = member("knownBody", of: task) else { return .unreadable }
        guard let known = unwrapped(field) else { return .asked(request.httpBodyStream) }
        guard let body = payload(of: known) else { return .unreadable }
        switch body {
        case let data as DispatchData: return .pieces(data)
        case let url as URL: return .file(url)
        case let stream as InputStream: return .stream(stream)
        default: return .unreadable
        }
    }

    /// Makes an async task's continuation resume off the work queue.
    ///
    /// Otherwise `Task.cancel()` racing with the end of the task deadlocks: cancel holds the task's
    /// status lock and waits for the work queue, which resumes the continuation inline and wants that
    /// lock. Source: swift-corelibs-foundation issue 5412, fixed after 6.3.
    static func resumeOffQueue(_ task: URLSessionTask) {
        guard let offset = FieldPlaces.ofTask.inlineFlag else { return }
        Unmanaged.passUnretained(task).toOpaque()
            .storeBytes(of: false, toByteOffset: offset, as: Bool.self)
    }

    fileprivate static let inlineFlag = "_callCompletionHandlerInline"

    /// Sets the response of a task, as Foundation does, without telling its delegate: that is then
    /// told by us, and its answer is heard. False when the fields are not found.
    static func set(_ response: URLResponse, of task: URLSessionTask) -> Bool {
        put(response as URLResponse?, at: FieldPlaces.ofTask.response, of: task)
    }

    /// Sets what a redirect led to, which Foundation does for its own loader alone.
    static func set(current request: URLRequest, of task: URLSessionTask) -> Bool {
        put(request as URLRequest?, at: FieldPlaces.ofTask.request, of: task)
    }

    /// Sets what a task failed with, which Foundation does for its own loader alone.
    static func set(failure error: any Error, of task: URLSessionTask) -> Bool {
        put(error as (any Error)?, at: FieldPlaces.ofTask.error, of: task)
    }

    /// - Parameter value: of the field's very type; an existential that is no optional would be opened.
    private static func put<Value>(
        _ value: Value, at place: Int?, of task: URLSessionTask
    ) -> Bool {
        guard let place else { return false }
        return locked(task) { base in
            (base + place).assumingMemoryBound(to: Value.self).pointee = value
        }
    }

    /// What a task shows of its progress.
    struct Counts: Sendable, Equatable {
        var received: Int64 = 0
        var sent: Int64 = 0
        /// -1 for unknown, as Foundation has it.
        var expectedToReceive: Int64 = -1
        var expectedToSend: Int64 = -1
    }

    /// Sets the counts of a task where their fields are found; nothing depends on them.
    static func set(_ counts: Counts, of task: URLSessionTask) {
        let places = FieldPlaces.ofTask
        guard let received = places.received, let sent = places.sent,
            let expectedToReceive = places.expectedToReceive,
            let expectedToSend = places.expectedToSend
        else { return }
        _ = locked(task) { base in
            base.storeBytes(of: counts.received, toByteOffset: received, as: Int64.self)
            base.storeBytes(of: counts.sent, toByteOffset: sent, as: Int64.self)
            base.storeBytes(
                of: counts.expectedToReceive, toByteOffset: expectedToReceive, as: Int64.self)
            base.storeBytes(
                of: counts.expectedToSend, toByteOffset: expectedToSend, as: Int64.self)
        }
    }

    /// Under the queue that the task's own accessors go through.
    private static func locked(
        _ task: URLSessionTask, _ work: (UnsafeMutableRawPointer) -> Void
    ) -> Bool {
        guard let place = FieldPlaces.ofTask.statusQueue else { return false }
        let base = Unmanaged.passUnretained(task).toOpaque()
        let queue = (base + place).assumingMemoryBound(to: DispatchQueue.self).pointee
        queue.sync { work(base) }
        return true
    }

    /// True when the file of a download can be handed over; without it Foundation would crash.
    static var canHandOverFiles: Bool {
        guard let properties = FieldPlaces.properties else { return false }
        return properties.kind is any KeyedByName.Type
    }

    /// Says where a download's file is; false when that cannot be said. On the work queue.
    static func set(temporaryFile file: URL, of loader: URLProtocol) -> Bool {
        guard let properties = FieldPlaces.properties,
            let kind = properties.kind as? any KeyedByName.Type
        else { return false }
        let place = Unmanaged.passUnretained(loader).toOpaque() + properties.offset
        return kind.put(file, under: "temporaryFileURL", at: place)
            && kind.value(under: "temporaryFileURL", at: place) as? URL == file
    }

    /// Which of the internals used here are not where they are expected: none with a Foundation that
    /// this library was checked with.
    package static func missing() -> [String] {
        guard let url = URL(string: "http://localhost/") else { return ["URL"] }
        let session = URLSession(configuration: .ephemeral)
        defer { session.invalidateAndCancel() }
        // Made, never resumed.
        let delegated = session.dataTask(with: url)
        let handled = session.dataTask(with: url) { _, _, _ in }
        let request = URLRequest(url: url)
        let upload = session.uploadTask(with: request, from: Data([1])) { _, _, _ in }
        let streamed = session.uploadTask(withStreamedRequest: request)
        let download = session.downloadTask(with: url) { _, _, _ in }
        // A task is registered by the time the next one is made.
        _ = session.dataTask(with: url)
        var missing: [String] = []
        if self.session(of: delegated) !== session { missing.append("URLSessionTask.session") }
        if case .delegate = manner(of: delegated, in: session).style {
        } else {
            missing.append("URLSession.taskRegistry.behaviours")
        }
        if case .whole = manner(of: handled, in: session).style {
        } else {
            missing.append("a completion handler's behaviour")
        }
        if case .download(isKept: false) = manner(of: download, in: session).style {
        } else {
            missing.append("a download's behaviour")
        }
        if case .pieces = body(of: upload, request), case .asked = body(of: streamed, request) {
        } else {
            missing.append("URLSessionTask.knownBody")
        }
        return missing + missingFields(delegated)
    }

    private static func missingFields(_ task: URLSessionDataTask) -> [String] {
        var missing: [String] = []
        if FieldPlaces.ofTask.inlineFlag == nil { missing.append(inlineFlag) }
        if !canHandOverFiles { missing.append("URLProtocol.properties") }
        let counts = Counts(received: 1, sent: 2, expectedToReceive: 3, expectedToSend: 4)
        set(counts, of: task)
        if task.countOfBytesReceived != 1 || task.countOfBytesSent != 2
            || task.countOfBytesExpectedToReceive != 3 || task.countOfBytesExpectedToSend != 4
        {
            missing.append("the counts of URLSessionTask")
        }
        if let url = task.originalRequest?.url {
            let response = URLResponse(
                url: url, mimeType: nil, expectedContentLength: 0, textEncodingName: nil)
            if !set(response, of: task) || task.response !== response {
                missing.append("URLSessionTask.response")
            }
            let next = URLRequest(url: url, timeoutInterval: 7)
            if !set(current: next, of: task) || task.currentRequest != next {
                missing.append("URLSessionTask.currentRequest")
            }
        }
        let failure = URLError(.unknown)
        if !set(failure: failure, of: task) || task.error as? URLError != failure {
            missing.append("URLSessionTask.error")
        }
        return missing
    }

    /// A stored property, searched from the most derived class up; nil where there is none.
    private static func member(_ name: String, of value: Any) -> Any? {
        var mirror: Mirror? = Mirror(reflecting: value)
        while let current = mirror {
            if let child = current.children.first(where: { $0.label == name }) {
                return child.value
            }
            mirror = current.superclassMirror
        }
        return nil
    }

    private static func unwrapped(_ value: Any) -> Any? {
        let mirror = Mirror(reflecting: value)
        guard mirror.displayStyle == .optional else { return value }
        return mirror.children.first?.value
    }

    /// The associated value of an enum case.
    private static func payload(of value: Any) -> Any? {
        guard let child = Mirror(reflecting: value).children.first else { return nil }
        return unwrapped(child.value)
    }
}
