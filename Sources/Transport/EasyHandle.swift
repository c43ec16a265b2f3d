internal import CHTTPDNSCurl

/// One libcurl easy handle with the memory that it points into; all of it freed together.
///
/// Used on the engine's thread only. Options that libcurl refuses are remembered in ``refusal``: a
/// transfer with one refused option must not start, since each option is a promise.
final class EasyHandle {
    let raw: UnsafeMutableRawPointer
    /// Whose callbacks are answered, while libcurl works for it; the engine takes it away with its end.
    var transfer: ActiveTransfer?
    /// What stays as it is from one transfer to the next; nil for a handle that serves one alone.
    let kind: TransferKind?
    /// What was said last of all that does not.
    var said = SaidOfTransfer()
    private(set) var refusal: String?
    private let errorText: UnsafeMutablePointer<CChar>
    private var lists: [CURLoption.RawValue: UnsafeMutablePointer<curl_slist>] = [:]

    /// Nil when memory is short.
    init?(_ kind: TransferKind?) {
        guard let raw = httpdns_curl_easy_init() else { return nil }
        self.raw = raw
        self.kind = kind
        errorText = .allocate(capacity: httpdns_curl_error_octets)
        errorText.initialize(repeating: 0, count: httpdns_curl_error_octets)
        note(httpdns_curl_set_error_buffer(raw, errorText), CURLOPT_ERRORBUFFER)
    }

    deinit {
        httpdns_curl_easy_cleanup(raw)
        for list in lists.values { httpdns_curl_list_free(list) }
        errorText.deallocate()
    }

    /// Nothing is left of the words about the transfer before.
    func forgetErrors() { errorText[0] = 0 }

    func set(_ option: CURLoption, _ value: Int) {
        note(httpdns_curl_set_long(raw, option, value), option)
    }

    func set(_ option: CURLoption, _ value: Bool) {
        set(option, value ? 1 : 0)
    }

    func set(_ option: CURLoption, offset value: Int64) {
        note(httpdns_curl_set_offset(raw, option, value), option)
    }

    /// libcurl copies the text; nil takes a default away.
    func set(_ option: CURLoption, _ text: String?) {
        note(httpdns_curl_set_text(raw, option, text), option)
    }

    /// None takes back what was set before.
    func set(_ option: CURLoption, lines: [String]) {
        set(option, lines) { httpdns_curl_list_append($0, $1) }
    }

    /// The same for lines that may be no UTF-8, and hold no NUL.
    func set(_ option: CURLoption, octetLines: [[UInt8]]) {
        set(option, octetLines) { list, line in
            (line + [0]).withUnsafeBytes { octets in
                octets.baseAddress.flatMap {
                    httpdns_curl_list_append(list, $0.assumingMemoryBound(to: CChar.self))
                }
            }
        }
    }

    private func set<Line>(
        _ option: CURLoption, _ lines: [Line],
        append: (UnsafeMutablePointer<curl_slist>?, Line) -> UnsafeMutablePointer<curl_slist>?
    ) {
        var list: UnsafeMutablePointer<curl_slist>?
        for line in lines {
            guard let longer = append(list, line) else {
                httpdns_curl_list_free(list)
                note(CURLE_OUT_OF_MEMORY, option)
                return
            }
            list = longer
        }
        note(httpdns_curl_set_list(raw, option, list), option)
        let before = lists[option.rawValue]
        lists[option.rawValue] = list
        if let before { httpdns_curl_list_free(before) }
    }

    /// The callbacks find the transfer by this handle.
    func set(_ callbacks: httpdns_curl_callbacks) {
        let context = Unmanaged.passUnretained(self).toOpaque()
        note(httpdns_curl_set_callbacks(raw, callbacks, context), CURLOPT_PREREQFUNCTION)
    }

    func pause(_ directions: Int32) -> CURLcode {
        httpdns_curl_easy_pause(raw, directions)
    }

    /// Whether libcurl's log is read; at any moment of a transfer, inside its callbacks too.
    func hear(_ isHeard: Bool) {
        guard said.isHeard != isHeard else { return }
        set(CURLOPT_VERBOSE, isHeard)
        said.isHeard = isHeard
    }

    /// The transfer is to begin again, on a connection of its own.
    func demandFreshConnection() {
        set(CURLOPT_FRESH_CONNECT, true)
        said.isFresh = true
    }

    /// The handle serves no other transfer after this.
    func demandHTTP11() { set(CURLOPT_HTTP_VERSION, Int(CURL_HTTP_VERSION_1_1)) }

    /// Nobody gets the connection after this transfer; inside its callbacks. Never over HTTP/2, where
    /// others have their streams on it.
    func giveUpConnection() {
        guard !said.isGivenUp else { return }
        set(CURLOPT_FORBID_REUSE, true)
        said.isGivenUp = true
    }

    func long(_ which: CURLINFO) -> Int64 { httpdns_curl_get_long(raw, which) }
    func offset(_ which: CURLINFO) -> Int64 { httpdns_curl_get_offset(raw, which) }

    func text(_ which: CURLINFO) -> String? {
        httpdns_curl_get_text(raw, which).map { String(cString: $0) }
    }

    /// libcurl found words for what went wrong.
    var hasWords: Bool { errorText[0] != 0 }

    /// libcurl's own words about a failure, fit for a log: printable ASCII.
    func explanation(of code: CURLcode) -> String {
        let words = String(cString: errorText)
        let text = words.isEmpty ? String(cString: httpdns_curl_easy_text(code)) : words
        return String(
            decoding: text.utf8.map { (0x20...0x7E).contains($0) ? $0 : 0x3F }, as: UTF8.self)
    }

    private func note(_ code: CURLcode, _ option: CURLoption) {
        guard code != CURLE_OK, refusal == nil else { return }
        let why = String(cString: httpdns_curl_easy_text(code))
        refusal = "libcurl refused option \(option.rawValue): \(why)"
    }
}
