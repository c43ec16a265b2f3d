internal import Foundation
package import FoundationNetworking
package import HTTPDNSURLSession

package func aCaptureWithASwitch(_ httpdns: HTTPDNS) async -> [CaptureRecord] {
    // recipe: a capture with a switch
    let capture = Capture(CaptureConfiguration(ringRecords: 500))
    let session = httpdns.session(configuration: .default, capture: capture)
    capture.stop()  // and capture.start(): a switch of the user's
    for await event in capture.events() { print(event.record.url, event.record.status as Any) }
    // end
    session.invalidateAndCancel()
    return capture.recent
}

package func trafficByHost(_ database: String) throws {
    // recipe: traffic by host
    var statistics = CaptureStatistics()
    try CaptureFile(database).read { record in
        statistics.add(record)
        return true
    }
    for (host, traffic) in statistics.byHost {
        print(host, traffic.requests, traffic.failures, traffic.sentOctets, traffic.receivedOctets)
    }
    // end
}

package func anOfflineCache(
    _ settings: HTTPDNSConfiguration, rules: LiveRules
) throws -> URLSession {
    var settings = settings
    // recipe: an offline cache
    settings.offlineCache = OfflineCacheSettings(directory: "/var/cache/app")
    let session = try HTTPDNS(settings).session(configuration: .default, rules: rules)
    rules.switches.isOffline = true  // what is kept answers, and everything else fails at once
    // end
    return session
}

package func recordAndReplay(_ rules: LiveRules) throws {
    // recipe: record and replay
    rules.rules = [RequestRule("record", .any, .record(FixtureRecorder(capture: "traffic.sqlite")))]
    // … what is to be recorded …
    let recorded = try FixtureLibrary(file: "traffic.sqlite")  // or a HAR of any program
    rules.rules = [RequestRule("replay", .any, .replay(recorded))]
    // end
}
