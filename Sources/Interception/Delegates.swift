internal import Foundation

#if canImport(FoundationNetworking)
    internal import FoundationNetworking
#endif

/// The application's delegates of one task, told and asked on the session's delegate queue.
struct Delegates: @unchecked Sendable {
    // Safety: the objects are those that URLSession itself passes from its queues to the delegate
    // queue; delegates are used there alone.
    let task: URLSessionTask
    let session: URLSession
    /// Knows the delegate of an async call.
    private let manner: TaskInternals.Manner

    init(task: URLSessionTask, session: URLSession, manner: TaskInternals.Manner) {
        self.task = task
        self.session = session
        self.manner = manner
    }

    /// Whom a task asks: its own delegate before the session's.
    var ofTask: (any URLSessionTaskDelegate)? {
        manner.delegate ?? task.delegate ?? session.delegate as? any URLSessionTaskDelegate
    }

    /// Whom Foundation tells of data, for tasks without a completion handler: the session's alone.
    var ofData: (any URLSessionDataDelegate)? { session.delegate as? any URLSessionDataDelegate }

    /// Whom Foundation tells of a download; nobody where a handler or an async call waits for it.
    var ofDownload: (any URLSessionDownloadDelegate)? {
        manner.callsDelegate ? session.delegate as? any URLSessionDownloadDelegate : nil
    }

    /// Runs after everything that the queue was given before, also where it runs several at a time.
    func afterTold(_ work: @escaping @Sendable () -> Void) {
        let queue = session.delegateQueue
        if queue.maxConcurrentOperationCount == 1 {
            queue.addOperation(work)
        } else {
            queue.addBarrierBlock(work)
        }
    }

    func onQueue(_ work: @escaping @Sendable () -> Void) {
        session.delegateQueue.addOperation(work)
    }

    /// As the application would: on the work queue Foundation would wait for itself.
    func cancelTask() { onQueue { task.cancel() } }

    /// Asks for the body's stream; nil without anybody to ask.
    var supply: InputStreamSource.Supply? {
        guard ofTask != nil else { return nil }
        return { give in
            let question = OpenQuestion(give) { give(nil) }
            onQueue {
                guard let delegate = ofTask else { return question.answer { nil } }
                delegate.urlSession(
                    session, task: task,
                    needNewBodyStream: { stream in
                        question.answer { stream.map { SharedStream(stream: $0) } }
                    })
            }
        }
    }

    /// Tells of progress, on the work queue.
    func tell(_ news: TaskProgress.News) {
        TaskInternals.set(news.counts, of: task)
        news.counts.show(on: task.progress)
        if news.newlySent > 0, let delegate = ofTask {
            let asked = Box(delegate)
            onQueue { [self] in
                asked.value.urlSession(
                    self.session, task: self.task, didSendBodyData: news.newlySent,
                    totalBytesSent: news.counts.sent,
                    totalBytesExpectedToSend: news.counts.expectedToSend)
            }
        }
        if news.newlyWritten > 0, let delegate = ofDownload,
            let task = task as? URLSessionDownloadTask
        {
            let asked = Box((delegate, task))
            onQueue { [session] in
                asked.value.0.urlSession(
                    session, downloadTask: asked.value.1, didWriteData: news.newlyWritten,
                    totalBytesWritten: news.written,
                    totalBytesExpectedToWrite: news.counts.expectedToReceive)
            }
        }
    }
}

/// Something of Foundation's on its way to the delegate queue.
struct Box<Value>: @unchecked Sendable {
    // Safety: made on the work queue and used once, on the delegate queue; URLSession itself hands
    // the same objects from one to the other.
    let value: Value

    init(_ value: Value) { self.value = value }
}
