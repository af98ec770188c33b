// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

// Loads files from a server in the same program, and compares every byte.

import Glibc
import Loading
import RunLoops
import Serving

let arguments = CommandLine.arguments
let count = arguments.firstIndex(of: "--count").flatMap { Int(arguments[min($0 + 1, arguments.count - 1)]) } ?? 20

/// Collects the bytes of all files; the main thread alone uses it.
final class Collector: LoadDelegate {
    private var contents: [String: [UInt8]] = [:]
    private(set) var (files, bytes, failures, callouts) = (0, 0, 0, 0)

    func connection(_ connection: LoadConnection, didReceive bytes: [UInt8]) {
        callouts += 1
        contents[connection.name, default: []] += bytes
    }

    func connectionDidFinish(_ connection: LoadConnection) {
        let received = contents.removeValue(forKey: connection.name) ?? []
        bytes += received.count
        if received != Server.contents(of: connection.name) { fail(connection, "the bytes differ") }
        end()
    }

    func connection(_ connection: LoadConnection, didFailWith error: any Error) {
        fail(connection, "\(error)")
        end()
    }

    private func fail(_ connection: LoadConnection, _ text: String) {
        failures += 1
        print("\(connection.name): \(text)")
    }

    private func end() {
        files += 1
        if files == count { RunLoop.main.stop() }
    }
}

let server = try Server()
let loader = try LoaderThread()
let collector = Collector()
for number in 1...count {
    LoadConnection("file \(number)", port: server.port, modes: [.common], loader: loader, delegate: collector).start()
}
let result = RunLoop.main.run(in: .default, for: .seconds(600))
loader.stop()
server.stop()
print(
    "\(collector.files) files, \(collector.bytes) bytes, \(collector.failures) failures, in \(collector.callouts) callouts:",
    result)
exit(collector.files == count && collector.failures == 0 ? 0 : 1)
