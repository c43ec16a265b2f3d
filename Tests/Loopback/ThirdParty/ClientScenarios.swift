import Foundation
import FoundationNetworking
import TestSupport

/// What HTTP libraries, image loaders and API clients do.
enum ClientScenarios {
    static let all = answers + failures + methods + redirects + bodies + challenges + tasks

    private static let answers: [ClientScenario] = [
        "/", "/json", "/large", "/chunked", "/until-close", "/empty", "/deflate", "/latin",
        "/named", "/fields", "/status/204", "/status/304", "/status/404", "/status/500",
        "/status/205", "/status/206", "/status/299", "/bearer", "/unexplained",
    ].flatMap { path in
        [
            ClientScenario(name: "data task, \(path)") { await $0.data($0.request(path)) },
            ClientScenario(name: "handler, \(path)", hasDelegate: false) {
                await $0.handler($0.request(path))
            },
            // The stock loader does not end a download that is refused so.
            path == "/unexplained"
                ? nil
                : ClientScenario(name: "download, \(path)") {
                    await $0.download($0.request(path))
                },
        ].compactMap(\.self)
    }

    private static func end(_ code: Int, _ path: String, _ task: String, url: Bool = true) -> String
    {
        let words = "NSURLErrorDomain \(code) \(url ? "http://H\(path)" : "-")"
        return "end \(words) \(words) [\(task)]"
    }

    private static let failures = [
        ClientScenario(name: "a body that is cut off") { await $0.data($0.request("/cut")) }
            .differing(
                because: "the stock loader calls it unknown",
                stock: [end(-1, "/cut", "running GET http://H/cut 200")],
                ours: [end(-1005, "/cut", "running GET http://H/cut 200")]),
        ClientScenario(name: "no answer") { await $0.data($0.request("/gone")) }
            .differing(
                because: "the stock loader calls it a bad response",
                stock: [end(-1011, "/gone", "running GET http://H/gone -")],
                ours: [end(-1005, "/gone", "running GET http://H/gone -")]),
        ClientScenario(name: "silence") { side in
            await side.data(side.request("/never") { $0.timeoutInterval = 1 })
        }.differing(
            because: "the stock loader's time-out names no URL",
            stock: [end(-1001, "/never", "running GET http://H/never -", url: false)],
            ours: [end(-1001, "/never", "running GET http://H/never -")]),
        ClientScenario(name: "silence in a body") { side in
            await side.data(side.request("/stalls") { $0.timeoutInterval = 1 })
        }.differing(
            because: "the stock loader's time-out names no URL",
            stock: [end(-1001, "/stalls", "running GET http://H/stalls 200", url: false)],
            ours: [end(-1001, "/stalls", "running GET http://H/stalls 200")]),
        ClientScenario(name: "another scheme", hasDelegate: false) { side in
            guard let url = URL(string: "foo://x/y") else { return }
            await side.handler(URLRequest(url: url))
        },
    ]

    private static let methods = ["HEAD", "DELETE", "OPTIONS", "PATCH", "PUT", "POST", "PROPFIND"]
        .flatMap { method in
            [
                ClientScenario(name: method) { await $0.data($0.request("/m", method)) },
                ClientScenario(name: "\(method) with a body") { side in
                    await side.data(
                        side.request("/m", method) { $0.httpBody = Data("body".utf8) })
                },
            ]
        }

    private static func posted(_ side: ClientSide, _ path: String) -> URLRequest {
        side.request(path, "POST") { request in
            request.httpBody = Data("body".utf8)
            request.setValue("text/plain", forHTTPHeaderField: "Content-Type")
            request.setValue("1", forHTTPHeaderField: "X-Own")
        }
    }

    private static let refusing = TraceRecorder.Answers(redirect: { _ in nil })

    private static let redirects =
        [301, 302, 303, 307, 308].flatMap { status -> [ClientScenario] in
            let path = "/to-there/\(status)"
            let post = ClientScenario(name: "\(status) of a POST") { side in
                await side.data(posted(side, path))
            }
            let shown = "{Content-Type=text/plain,X-Own=1}"
            let before = "[running POST http://H\(path) -]"
            return [
                ClientScenario(name: "\(status)") { side in
                    await side.data(
                        side.request(path) { request in
                            request.setValue("1", forHTTPHeaderField: "X-Own")
                            request.setValue("Bearer t", forHTTPHeaderField: "Authorization")
                        })
                },
                ClientScenario(name: "\(status), refused", answers: refusing) { side in
                    await side.data(side.request(path))
                },
                ClientScenario(name: "\(status), with a handler", hasDelegate: false) { side in
                    await side.handler(side.request(path))
                },
                status < 304
                    ? post.differing(
                        because: "what had a body had its type (RFC 9110 §15.4)",
                        stock: [
                            "redirect \(status) GET http://H/there \(shown) body -1 false "
                                + before, "    Content-Type: text/plain",
                        ],
                        ours: [
                            "redirect \(status) GET http://H/there {X-Own=1} body -1 false "
                                + before
                        ])
                    : post.differing(
                        because: "the stock loader loses the body",
                        stock: ["server POST /there 0"],
                        ours: [
                            "sent 4 of 4", "server POST /there 4", "    Content-Length: 4",
                        ]),
            ]
        } + [
            ClientScenario(name: "a relative one") { await $0.data($0.request("/relative")) },
            ClientScenario(name: "one to nowhere") { await $0.data($0.request("/nowhere")) }
                .differing(
                    because: "the stock loader tells of no response",
                    ours: [
                        "response 302 - - 0 Unknown http://H/nowhere "
                            + "[running GET http://H/nowhere 302]"
                    ]),
            ClientScenario(name: "one with a cookie") { await $0.data($0.request("/with-cookie")) }
                .differing(
                    because: "the stock loader does not send it on the next hop",
                    ours: ["    Cookie: hop=1"]),
        ]

    private static let bodies = [
        ClientScenario(name: "an upload of data") { side in
            let request = side.request("/u", "POST")
            side.session.uploadTask(with: request, from: Data(repeating: 1, count: 300_000))
                .resume()
            _ = await side.recorder.ended()
        },
        ClientScenario(name: "an upload of nothing") { side in
            side.session.uploadTask(with: side.request("/u", "PUT"), from: Data()).resume()
            _ = await side.recorder.ended()
        },
        ClientScenario(name: "an upload of a file") { side in
            let file = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
            try Data(repeating: 2, count: 50_000).write(to: file)
            side.session.uploadTask(with: side.request("/u", "POST"), fromFile: file).resume()
            _ = await side.recorder.ended()
            try FileManager.default.removeItem(at: file)
        },
        ClientScenario(name: "an upload of no file") { side in
            let file = URL(filePath: "/nonexistent/file")
            side.session.uploadTask(with: side.request("/u", "POST"), fromFile: file).resume()
            _ = await side.recorder.ended()
        },
        ClientScenario(name: "a streamed upload") { side in
            side.session.uploadTask(withStreamedRequest: side.request("/u", "POST")).resume()
            _ = await side.recorder.ended()
        }.differing(
            because:
                "the stock loader asks off the delegate's queue, expects 100 and shows it, and "
                + "calls the body a form",
            stock: [
                "needs a stream [running POST http://H/u - elsewhere]",
                "response 100 - - -1 Unknown http://H/u [running POST http://H/u 100]",
                "sent 8 of 0", "    Content-Type: application/x-www-form-urlencoded",
                "    Expect: 100-continue",
            ],
            ours: ["needs a stream [running POST http://H/u -]", "sent 8 of -1"]),
        ClientScenario(name: "a request with a stream") { side in
            await side.data(
                side.request("/u", "POST") { request in
                    request.httpBodyStream = InputStream(data: Data("stream".utf8))
                    request.setValue("6", forHTTPHeaderField: "Content-Length")
                })
        }.differing(
            because: "the stock loader sends the length beside chunks (RFC 9112 §6.2)",
            stock: ["sent 6 of 0", "    Transfer-Encoding: chunked"], ours: ["sent 6 of 6"]),
    ]

    private static let challenges: [ClientScenario] = {
        let credential = URLCredential(user: "u", password: "p", persistence: .none)
        let asked = "challenge NSURLAuthenticationMethodHTTPBasic r http 0 401 - "
        let early = [
            "response 401 - - 2 Unknown http://H/basic [running GET http://H/basic 401]", "data 2",
            asked + "[running GET http://H/basic 401]",
        ]
        let reason = "the stock loader hands the 401 over before it asks"
        let cancelled = "NSURLErrorDomain -999 http://H/basic"
        return [
            ClientScenario(
                name: "Basic with a credential",
                answers: .init(challenge: .useCredential, credential: credential),
                act: { await $0.data($0.request("/basic")) }
            ).differing(
                because: reason, stock: early, ours: [asked + "[running GET http://H/basic -]"]),
            ClientScenario(
                name: "Basic, cancelled", answers: .init(challenge: .cancelAuthenticationChallenge),
                act: { await $0.data($0.request("/basic")) }
            ).differing(
                because: reason,
                stock: early + ["end \(cancelled) \(cancelled) [canceling GET http://H/basic 401]"],
                ours: [
                    asked + "[running GET http://H/basic -]",
                    "end \(cancelled) \(cancelled) [canceling GET http://H/basic -]",
                ]),
            ClientScenario(name: "Basic by a field") { side in
                await side.data(
                    side.request("/basic") {
                        $0.setValue("Basic dTpw", forHTTPHeaderField: "Authorization")
                    })
            },
        ]
    }()

    private static let tasks = [
        ClientScenario(name: "cancelled at once", isCutShort: true) { side in
            let task = side.session.dataTask(with: side.request("/slow"))
            task.resume()
            task.cancel()
            _ = await side.recorder.ended()
        },
        ClientScenario(name: "cancelled before it began") { side in
            side.session.dataTask(with: side.request("/slow")).cancel()
            _ = await side.recorder.ended()
        },
        ClientScenario(
            name: "cancelled by its disposition", answers: .init(disposition: .cancel),
            act: { await $0.data($0.request("/empty")) }
        ).differing(
            because: "the stock loader does not look at it",
            stock: ["end no error no error [running GET http://H/empty 200]"],
            ours: [
                "end NSURLErrorDomain -999 http://H/empty NSURLErrorDomain -999 http://H/empty "
                    + "[canceling GET http://H/empty 200]"
            ]),
        ClientScenario(
            name: "fields of the session",
            configure: {
                $0.httpAdditionalHeaders = [
                    "X-Session": "1", "User-Agent": "client/1", "Accept": "application/json",
                ]
            },
            act: { side in
                await side.data(
                    side.request("/") { $0.setValue("2", forHTTPHeaderField: "x-session") })
            }),
        ClientScenario(name: "escapes") { side in
            await side.data(side.request("/a%2Fb/%E4%BD%A0?q=a+b%20c&x=%5B%5D"))
        },
        ClientScenario(name: "the session ends with its task") { side in
            side.session.dataTask(with: side.request("/slow")).resume()
            side.session.finishTasksAndInvalidate()
            _ = await side.recorder.invalidated()
        },
        ClientScenario(name: "async data") { side in
            let (data, response) = try await side.session.data(for: side.request("/json"))
            side.recorder.note("\(data.count) \((response as? HTTPURLResponse)?.statusCode ?? 0)")
        },
        ClientScenario(name: "async upload", hasDelegate: false) { side in
            let (data, response) = try await side.session.upload(
                for: side.request("/u", "POST"), from: Data("xyz".utf8))
            side.recorder.note("\(data.count) \((response as? HTTPURLResponse)?.statusCode ?? 0)")
        },
        ClientScenario(name: "async download") { side in
            let (file, response) = try await side.session.download(for: side.request("/large"))
            side.recorder.note(
                "\(try Data(contentsOf: file).count) "
                    + "\((response as? HTTPURLResponse)?.statusCode ?? 0) \(file.pathExtension)")
            try FileManager.default.removeItem(at: file)
        },
        ClientScenario(name: "async failure") { side in
            _ = try await side.session.data(for: side.request("/gone"))
        }.differing(
            because: "the stock loader calls it a bad response",
            stock: ["threw NSURLErrorDomain -1011 http://H/gone"],
            ours: ["threw NSURLErrorDomain -1005 http://H/gone"]),
        ClientScenario(name: "many at once", isOrdered: false) { side in
            await withTaskGroup(of: Int?.self) { group in
                for number in 0..<50 {
                    group.addTask {
                        try? await side.session.data(for: side.request("/n?\(number)")).0.count
                    }
                }
                var counts: [Int] = []
                for await count in group { counts.append(count ?? -1) }
                side.recorder.note("\(counts.sorted())")
            }
        },
    ]
}
