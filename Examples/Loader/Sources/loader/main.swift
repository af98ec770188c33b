// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

// Loads addresses and prints what came; without any, loads files from a server in the same program, and compares every byte.

import Glibc
import Loading
import RunLoops
import Serving

var arguments = Array(CommandLine.arguments.dropFirst())
var count = 20
if let place = arguments.firstIndex(of: "--count") {
    count = (place + 1 < arguments.count ? Int(arguments[place + 1]) : nil) ?? count
    arguments.removeSubrange(place..<min(place + 2, arguments.count))
}

/// Collects the bytes of all loads; the main thread alone uses it.
final class Collector: LoadDelegate {
    /// The address to load, and the name of the file whose bytes are expected.
    let loads: [(url: String, name: String?)]
    private var contents: [String: [UInt8]] = [:]
    private var responses: [String: LoadResponse] = [:]
    private(set) var (ends, bytes, failures, callouts) = (0, 0, 0, 0)

    init(_ loads: [(url: String, name: String?)]) { self.loads = loads }

    func connection(_ connection: LoadConnection, didReceive response: LoadResponse) {
        responses[connection.url] = response
    }

    func connection(_ connection: LoadConnection, didReceive bytes: [UInt8]) {
        callouts += 1
        contents[connection.url, default: []] += bytes
    }

    func connectionDidFinish(_ connection: LoadConnection) {
        let received = contents.removeValue(forKey: connection.url) ?? []
        bytes += received.count
        if let name = loads.first(where: { $0.url == connection.url })?.name {
            if received != Server.contents(of: name) { fail(connection, "the bytes differ") }
        } else if let response = responses[connection.url] {
            print("\(response.status) \(response.url) \(response.contentType ?? "-") \(received.count) bytes")
        }
        end()
    }

    func connection(_ connection: LoadConnection, didFailWith error: LoadError) {
        fail(connection, "\(error)")
        end()
    }

    private func fail(_ connection: LoadConnection, _ text: String) {
        failures += 1
        print("\(connection.url): \(text)")
    }

    private func end() {
        ends += 1
        if ends == loads.count { RunLoop.main.stop() }
    }
}

let server = try Server()
let loader = try LoaderThread()
let collector = Collector(
    arguments.isEmpty
        ? (1...max(1, count)).map { (server.url(of: "file \($0)"), "file \($0)") } : arguments.map { ($0, nil) })
for load in collector.loads {
    LoadConnection(load.url, modes: [.common], loader: loader, delegate: collector).start()
}
let result = RunLoop.main.run(in: .default, for: .seconds(600))
loader.stop()
server.stop()
print(
    "\(collector.ends) files, \(collector.bytes) bytes, \(collector.failures) failures, in \(collector.callouts) callouts:",
    result)
exit(collector.ends == collector.loads.count && collector.failures == 0 ? 0 : 1)
