internal import Foundation
internal import HTTPDNSExchange

#if canImport(FoundationNetworking)
    public import FoundationNetworking
#endif

/// Answers the requests of a `URLSession` through HTTPDNS: the connection goes to the resolved
/// address, everything else stays what the URL says.
///
/// Applications do not make one; they call `HTTPDNS.install(into:)`. It follows redirects itself,
/// keeps cookies in the session's storage under the logical URL, enforces the session's time-outs,
/// and never hands a request over to the stock loader. Facts about Foundation's side are in
/// docs/platform.md.
open class HTTPDNSURLProtocol: URLProtocol {
    private var loading: Loading?
    /// An end was told, or is about to be: a late resume begins nothing.
    private var isOver = false
    /// It was told by us.
    private var isTold = false

    // MARK: Called by Foundation on the task's work queue, with locks held: must not block.

    /// True for `http` and `https` requests that the installation's scope covers, and no rule
    /// passes.
    override open class func canInit(with request: URLRequest) -> Bool {
        guard KillSwitch.isOn, let installation = InstallationTable.shared.installation(of: self)
        else { return false }
        return installation.takes(request)
    }

    /// The request as it is; on this platform Foundation does not ask.
    override open class func canonicalRequest(for request: URLRequest) -> URLRequest { request }

    /// Never: responses are not kept in `URLCache`, whose key leaves out the query here.
    override open class func requestIsCacheEquivalent(_: URLRequest, to _: URLRequest) -> Bool {
        false
    }

    /// Called when the task is resumed, also again while it runs and after a suspension.
    override open func startLoading() {
        guard !isOver else { return }
        if let loading {
            if task?.state != .suspended { loading.goOn() }
            return
        }
        // Before anything that can end the task.
        if let task { TaskInternals.resumeOffQueue(task) }
        guard let installation = InstallationTable.shared.installation(of: type(of: self)) else {
            fail(URLError.make(.unknown, request.url, "this session's HTTPDNS was uninstalled"))
            return
        }
        do throws(LoadingFault) {
            let loading = try Loading(self, installation: installation)
            self.loading = loading
            if task?.state == .suspended { loading.hold() }
            loading.start()
        } catch {
            fail(error.urlError(request.url))
        }
    }

    /// Called on cancel and on suspend; not after a normal end.
    ///
    /// The calls of a suspend and of the resume right behind it may come in the wrong order (measured,
    /// 6.3.1: while the task's protocol is being made), so that what counts is the state of the task,
    /// which is set before each call: held by the last of them a task would never end.
    override open func stopLoading() {
        switch task?.state {
        case .canceling, .completed, nil:
            loading?.stop()
            // Of a task that has not begun, too: it must not begin.
            end()
        case .suspended: loading?.hold()
        // It runs again by now.
        default: break
        }
    }

    #if canImport(FoundationNetworking)
        /// Who is told of the task; nobody any more once its end was told here.
        ///
        /// A cancel under way at that moment has Foundation tell an end of its own behind it, about a
        /// task that it may have forgotten by then: the process would trap (measured, 6.3.1: where
        /// the task's protocol was still being made when it was cancelled).
        override open var client: (any URLProtocolClient)? {
            get { isTold ? nil : super.client }
            set { super.client = newValue }
        }
    #endif

    // MARK: Called by `Loading` on the work queue.

    func receive(_ response: HTTPURLResponse) {
        client?.urlProtocol(self, didReceive: response, cacheStoragePolicy: .notAllowed)
    }

    func receive(_ data: Data) {
        client?.urlProtocol(self, didLoad: data)
    }

    func finish() {
        tellEnd { $0?.urlProtocolDidFinishLoading(self) }
    }

    func fail(_ error: any Error) {
        if let task, !isTold { _ = TaskInternals.set(failure: error, of: task) }
        tellEnd { $0?.urlProtocol(self, didFailWithError: error) }
    }

    private func tellEnd(_ tell: ((any URLProtocolClient)?) -> Void) {
        let client = client
        end()
        isTold = true
        tell(client)
    }

    private func end() {
        isOver = true
        loading = nil
    }
}
