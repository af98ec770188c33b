// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

import Glibc
import RunLoops

let arguments = CommandLine.arguments
let count = arguments.firstIndex(of: "--count").flatMap { Int(arguments[min($0 + 1, arguments.count - 1)]) } ?? 20

let server = try Server()
let loader = try Loader(port: server.port)

/// What the caller's loop has received so far; only its thread uses this.
@MainActor
struct Received {
    static var files = 0
    static var bytes = 0
    static var failures = 0
    static var callouts = 0
}

let mailbox = Mailbox<Loaded>(in: .common) { answers in
    MainActor.assumeIsolated {
        Received.callouts += 1
        for answer in answers {
            Received.files += 1
            switch answer.result {
            case .success(let bytes): Received.bytes += bytes.count
            case .failure(let error):
                Received.failures += 1
                print("\(answer.name): \(error)")
            }
        }
        if Received.files == count { RunLoop.main.stop() }
    }
}

for number in 1...count { loader.load("file \(number)", to: mailbox) }
let result = RunLoop.main.run(mode: .default, for: .seconds(30))
loader.stop()
server.stop()
print(
    "\(Received.files) files, \(Received.bytes) bytes, \(Received.failures) failures, in \(Received.callouts) callouts:",
    result)
exit(Received.files == count && Received.failures == 0 ? 0 : 1)
