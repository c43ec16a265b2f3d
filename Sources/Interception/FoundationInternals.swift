internal import CHTTPDNSSystem
internal import Dispatch
internal import Foundation
internal import FoundationNetworking
@_spi(Reflection) internal import Swift

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
    /// A download, which wants a file.
    case download
}

/// Where the body of a task comes from.
enum TaskBody {
    case none
    case data(Data)
    case stream(InputStream)
    case file(URL)
    /// An upload whose body cannot be found.
    case unreadable
}

/// A dictionary by task number whose values have a type of Foundation's own. A cast to `[Int: Any]`
/// would copy all of it for each task.
private protocol KeyedByNumber {
    func anyValue(at key: Int) -> Any?
}

extension Dictionary: KeyedByNumber where Key == Int {
    fileprivate func anyValue(at key: Int) -> Any? { self[key] }
}

/// Reads what URLSessionTask does not show.
package enum TaskInternals {
    /// The session a task belongs to.
    static func session(of task: URLSessionTask) -> URLSession? {
        field("session", of: task) as? URLSession
    }

    static func style(of task: URLSessionTask, in session: URLSession) -> DeliveryStyle {
        if task is URLSessionDownloadTask { return .download }
        guard let behaviour = behaviour(of: task, in: session) else { return .whole }
        return caseName(of: behaviour) == "callDelegate" ? .delegate : .whole
    }

    /// The delegate that was given to an async call, which is not in `task.delegate`.
    static func ownDelegate(
        of task: URLSessionTask, in session: URLSession
    ) -> (any URLSessionTaskDelegate)? {
        guard let behaviour = behaviour(of: task, in: session),
            let values = payload(of: behaviour)
        else { return nil }
        for child in Mirror(reflecting: values).children {
            if let delegate = unwrapped(child.value) as? any URLSessionTaskDelegate {
                return delegate
            }
        }
        return nil
    }

    private static func behaviour(of task: URLSessionTask, in session: URLSession) -> Any? {
        guard let registry = field("taskRegistry", of: session),
            let behaviours = field("behaviours", of: registry) as? any KeyedByNumber
        else { return nil }
        return behaviours.anyValue(at: task.taskIdentifier)
    }

    /// The body of a request or an upload task.
    static func body(of task: URLSessionTask, _ request: URLRequest) -> TaskBody {
        if let data = request.httpBody { return .data(data) }
        if let stream = request.httpBodyStream { return .stream(stream) }
        guard task is URLSessionUploadTask else { return .none }
        guard let known = field("knownBody", of: task), let body = payload(of: known) else {
            return .unreadable
        }
        switch body {
        case let data as DispatchData: return .data(Data(data))
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
        guard let offset = offset(of: inlineFlag, in: task) else { return }
        Unmanaged.passUnretained(task).toOpaque()
            .storeBytes(of: false, toByteOffset: offset, as: Bool.self)
    }

    private static let inlineFlag = "_callCompletionHandlerInline"

    /// Which of the internals used here are not where they are expected: none with a Foundation that
    /// this library was checked with.
    package static func missing() -> [String] {
        guard let url = URL(string: "http://localhost/") else { return ["URL"] }
        let session = URLSession(configuration: .ephemeral)
        defer { session.invalidateAndCancel() }
        // Made, never resumed.
        let delegated = session.dataTask(with: url)
        let handled = session.dataTask(with: url) { _, _, _ in }
        let upload = session.uploadTask(with: URLRequest(url: url), from: Data([1])) { _, _, _ in }
        var missing: [String] = []
        if self.session(of: delegated) !== session { missing.append("URLSessionTask.session") }
        if style(of: delegated, in: session) != .delegate {
            missing.append("URLSession.taskRegistry.behaviours")
        }
        if style(of: handled, in: session) != .whole {
            missing.append("a completion handler's behaviour")
        }
        if case .data(Data([1])) = body(of: upload, URLRequest(url: url)) {
        } else {
            missing.append("URLSessionTask.knownBody")
        }
        if offset(of: inlineFlag, in: handled) == nil { missing.append(inlineFlag) }
        return missing
    }

    /// The value of a stored property, searched from the most derived class up.
    private static func field(_ name: String, of value: Any) -> Any? {
        var mirror: Mirror? = Mirror(reflecting: value)
        while let current = mirror {
            if let child = current.children.first(where: { $0.label == name }) {
                return unwrapped(child.value)
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

    private static func caseName(of value: Any) -> String? {
        Mirror(reflecting: value).children.first?.label ?? "\(value)"
    }

    /// The associated value of an enum case.
    private static func payload(of value: Any) -> Any? {
        guard let child = Mirror(reflecting: value).children.first else { return nil }
        return unwrapped(child.value)
    }

    /// Where a stored `Bool` of that name lies in an object; nil when there is none.
    private static func offset(of name: String, in object: AnyObject) -> Int? {
        var type: AnyClass? = Swift.type(of: object)
        while let current = type {
            var found: Int?
            // 1 is `classType`; the named constant is not concurrency-safe to read in Swift 6.3.
            let options = _EachFieldOptions(rawValue: 1)
            _ = _forEachField(of: current, options: options) { label, offset, kind, _ in
                guard String(cString: label) == name, kind == Bool.self else { return true }
                found = offset
                return false
            }
            if let found { return found }
            type = _getSuperclass(current)
        }
        return nil
    }
}
