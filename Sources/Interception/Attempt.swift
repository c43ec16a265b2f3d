internal import Foundation
internal import HTTPDNSClient
internal import HTTPDNSExchange
internal import HTTPDNSPlatform

/// What one exchange is to send.
struct Plan: Sendable {
    /// Without a body.
    var request: HTTPRequest
    var body: UploadBody
    /// A stream in the place of the body's own, which was read before.
    var stream: SharedStream?
}

/// What a task ends with.
enum Delivery: Sendable {
    /// The delegate has it all.
    case told
    case whole(Data)
    case file(DownloadFile)
}

/// One exchange of a task: a task has several when it answers challenges, or when its delegate
/// changes a redirect. Late words of one that no longer counts are ignored.
final class Attempt: ExchangeObserver, @unchecked Sendable {
    // Safety: `buffer` is touched where the exchange's events come, one at a time, and is passed on
    // with the last of them; everything else is immutable.

    let number: Int
    private let loading: Loading
    private let file: DownloadFile?
    private let isWhole: Bool
    private var buffer = Data()

    init(_ number: Int, of loading: Loading, style: DeliveryStyle) {
        self.number = number
        self.loading = loading
        switch style {
        case .delegate: (isWhole, file) = (false, nil)
        case .whole: (isWhole, file) = (true, nil)
        case .download:
            isWhole = false
            file = DownloadFile(
                onWritten: { loading.wrote($0, number) },
                onFault: { loading.end(with: $0.urlError) },
                onRoom: { loading.hasRoom(number) })
        }
    }

    /// Nobody wants the body any more.
    func giveUp() { file?.giveUp() }

    func exchange(
        offers redirect: RedirectOffer, answer: @escaping @Sendable (RedirectAnswer) -> Void
    ) {
        let question = OpenQuestion(answer) { [weak loading, number] in
            loading?.wasLetGo(number)
        }
        loading.post(.redirect(redirect, question), number)
    }

    func exchange(received head: ResponseHead, report: ExchangeReport) {
        if loading.failsUncached, report.hops.last?.cache?.outcome == .unsatisfied {
            return loading.end(
                with: LoadingFault.cacheOnly.urlError(URL(string: head.url.description)))
        }
        if isWhole, let count = ResponseWriting.bodyOctets(head) {
            buffer.reserveCapacity(Int(min(count, Attempt.mostReservedOctets)))
        }
        loading.post(.head(head), number)
    }

    func exchange(received body: UnsafeRawBufferPointer) -> Flow {
        guard loading.counts(number) else { return .more }
        if let file { return take(body, file) }
        guard isWhole else { return loading.took(body, number) }
        buffer.append(contentsOf: body)
        return loading.took(body.count, isFileFull: false, number)
    }

    private func take(_ body: UnsafeRawBufferPointer, _ file: DownloadFile) -> Flow {
        let isFull = file.take(body) == .pause
        let flow = loading.took(body.count, isFileFull: isFull, number)
        // It may have caught up before the pause was noted, and would not say so again.
        if isFull, !file.isFull { loading.hasRoom(number) }
        return flow
    }

    func exchange(ended result: Result<ExchangeReport, ExchangeFailure>) {
        guard loading.exchangeEnded(number) else {
            giveUp()
            return
        }
        switch result {
        case .failure(let failure):
            giveUp()
            loading.post(.ended(.failure(failure.sessionError)), number)
        case .success:
            guard let file else {
                loading.post(.ended(.success(isWhole ? .whole(buffer) : .told)), number)
                return
            }
            file.finish { [loading, number] result in
                loading.post(
                    .ended(result.map { _ in .file(file) }.mapError { $0.urlError as any Error }),
                    number)
            }
        }
    }

    /// The most that is set aside because of a length that a server states.
    ///
    /// Because: a body of this size fits where an application wants it whole; what is larger grows
    /// as it comes.
    private static let mostReservedOctets: Int64 = 268_435_456
}
