/// Finds the form that a request is written in.
///
/// Several vendors use one path. Where more than one of the spoken forms has it, the parameters
/// decide; where one has it, the path does, so that a wrong request is refused in that form's words.
struct ServiceRoutes {
    let spoken: Set<LabServiceForm>

    /// Nil for a path that no spoken form has.
    func form(of request: LabRequest) -> LabServiceForm? {
        let candidates = ServiceRoutes.candidates(request.path).filter { spoken.contains($0) }
        guard candidates.count > 1 else { return candidates.first }
        let query = request.query
        return candidates.first { ServiceRoutes.isLikely($0, request, query) } ?? candidates.last
    }

    /// The forms with this path; the one that asks least stands last.
    private static func candidates(_ path: String) -> [LabServiceForm] {
        switch path {
        case "/": return [.yunaq]
        case "/dns-query": return [.message, .json]
        case "/resolve": return [.aliDNS, .volcengine, .qiniu, .json]
        case "/d", "/conf": return [.tencent]
        case "/v2/d": return [.aliyun2]
        case "/v3/resolve", "/v4/resolve": return [.baidu]
        case "/v1/httpdns/clouddns": return [.wangsu]
        default: break
        }
        // What is left begins with an account.
        let segments = path.split(separator: "/", omittingEmptySubsequences: false).dropFirst()
        guard segments.count == 2, let action = segments.last else { return [] }
        switch action {
        case "d", "sign_d", "sign_resolve": return [.aliyun]
        case "resolve": return [.ucloud, .aliyun]
        case "service": return [.ucloud]
        case "ss": return [.aliyunSchedule]
        default: return []
        }
    }

    private static func isLikely(
        _ form: LabServiceForm, _ request: LabRequest, _ query: [String: String]
    ) -> Bool {
        switch form {
        case .message: request.method != "GET" || query["dns"] != nil
        case .aliDNS: query["uid"] != nil || query["ak"] != nil || query["key"] != nil
        case .volcengine: query["account_id"] != nil || query["timestamp"] != nil
        case .qiniu: query["domain"] != nil
        case .ucloud:
            query["app_id"] != nil || request.value(of: "Authorization") != nil
        default: false
        }
    }
}
