// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

import Glibc
import RunLoops
import RunLoopsTestSupport
import Testing

@testable import RunLoopsPorts

/// As often as it was asked for, or only often enough to notice.
func count(_ full: Int, orElse few: Int) -> Int { isFull ? full : few }

/// A thread whose loop serves a port until the value is gone or stopped.
final class Server: @unchecked Sendable {
    let port: RunLoop.MessagePort
    private let thread: TestThread
    let loop: RunLoop

    init(_ port: RunLoop.MessagePort) {
        self.port = port
        let started = Locked<RunLoop?>(nil)
        let permit = Permit()
        thread = TestThread {
            let loop = RunLoop.current
            do { try loop.add(port, in: .default) } catch { fatalError("\(error)") }
            started.withLock { $0 = loop }
            permit.signal()
            while port.isValid { loop.run(in: .default, until: nil) }
        }
        permit.wait()
        guard let loop = started.withLock({ $0 }) else { fatalError("the thread has left its loop") }
        self.loop = loop
    }

    /// Ends the port, and waits for its thread.
    func end() {
        port.invalidate()
        loop.perform {}
        loop.stop()
        thread.join()
    }
}

/// A directory for names, gone with the value.
final class TestDirectory: Sendable {
    let ports: RunLoop.MessagePort.Directory
    private let directory = TemporaryDirectory()
    var path: String { directory.path }

    init() throws { ports = try RunLoop.MessagePort.Directory(making: directory.path) }

    /// A sender that goes through a socket, although the port is in this process.
    func sender(_ name: String, owner: RunLoop.MessagePort.Access = .sameUser) throws -> RunLoop.MessagePort.Sender {
        try RunLoop.MessagePort.Sender(named: name, in: ports, owner: owner, looksInProcess: false)
    }
}
