internal import Foundation
package import FoundationNetworking
package import HTTPDNSURLSession

// The code of docs/recipes.md, compiled: each region between `// recipe:` and `// end` is a block
// there.

/// Stands for a library that makes its sessions from a configuration, as Alamofire's `Session`
/// does.
package final class SessionManager {
    package let session: URLSession

    package init(configuration: URLSessionConfiguration) {
        session = URLSession(configuration: configuration)
    }
}

/// Stands for a library that loads images with sessions of its own.
package final class ImageLoader {
    package let session: URLSession

    package init(sessionConfiguration: URLSessionConfiguration) {
        session = URLSession(configuration: sessionConfiguration)
    }
}

package func aPlainSession(_ httpdns: HTTPDNS, rules: LiveRules) -> URLSession {
    // recipe: a plain session
    let session = httpdns.session(configuration: .default, rules: rules)
    // end
    return session
}

package func aSessionThatExists(_ session: URLSession, _ httpdns: HTTPDNS) -> LiveRules {
    // recipe: a session that exists
    let rules = Interception.start(session, through: httpdns)  // URLSession.shared, too
    rules.rules = [RequestRule("no trackers", .pathExtension("gif"), .block)]
    Interception.stop(session)
    // end
    return rules
}

package func aSessionManager(_ httpdns: HTTPDNS, rules: LiveRules) -> SessionManager {
    // recipe: a session manager
    let configuration = URLSessionConfiguration.default
    Interception.start(configuration, through: httpdns, rules: rules)
    let manager = SessionManager(configuration: configuration)
    // end
    return manager
}

package func anImageLoader(_ httpdns: HTTPDNS) -> ImageLoader {
    // recipe: an image loader
    let configuration = URLSessionConfiguration.ephemeral
    let pictures: LiveRules = [.replacingImages(with: "placeholder.png")]
    Interception.start(configuration, through: httpdns, rules: pictures)
    let loader = ImageLoader(sessionConfiguration: configuration)
    // end
    return loader
}

package func theSwitches(_ rules: LiveRules) {
    // recipe: the switches
    rules.switches.isStubbingEnabled = false  // stubs, recordings and blocks are passed over
    rules.switches.isCaptureEnabled = false  // what begins from now on is not recorded
    rules.switches.isOffline = true  // nothing is sent: what is kept answers
    // end
}

package func theKillSwitch() {
    // recipe: the kill switch
    Interception.isEnabled = false  // every session of the process, from its next request on
    // end
}
