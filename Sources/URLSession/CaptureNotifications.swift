public import Foundation
public import HTTPDNSCapture

extension Notification.Name {
    /// A load has ended; `userInfo` holds its ``CaptureRecord`` under
    /// ``CaptureNotifications/recordKey``. Posted while a ``CaptureNotifications`` lives, on no
    /// particular thread.
    public static let httpdnsLoadDidEnd = Notification.Name("HTTPDNSLoadDidEnd")
}

/// Posts ``Foundation/Notification/Name/httpdnsLoadDidEnd`` for each record of a capture that ends,
/// as long as it lives.
public final class CaptureNotifications: Sendable {
    /// Where the record stands in `userInfo`.
    public static let recordKey = "record"
    private let task: Task<Void, Never>

    /// Begins.
    ///
    /// - Parameters:
    ///   - capture: whose records.
    ///   - center: where they are posted.
    public init(of capture: Capture, to center: NotificationCenter = .default) {
        let events = capture.events()
        task = Task {
            for await event in events {
                guard case .ended(let record) = event else { continue }
                center.post(
                    name: .httpdnsLoadDidEnd, object: nil,
                    userInfo: [CaptureNotifications.recordKey: record])
            }
        }
    }

    deinit { task.cancel() }
}
