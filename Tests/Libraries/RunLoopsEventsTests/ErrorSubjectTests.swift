// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

import Glibc
import RunLoops
import RunLoopsEvents
import RunLoopsTestSupport
import Testing

@Suite(.ownThread) struct ErrorSubjectTests {
    private static let nowhere = "/nonexistent/run-loops"

    private func expect(_ subject: String, _ call: () throws -> some Any) {
        do {
            _ = try call()
            Issue.record("no error about \(subject)")
        } catch { #expect("\(error)".contains(subject), "\(error)") }
    }

    @Test func `An error names the path, address, process or signal of its call`() throws {
        let path = Self.nowhere
        expect("inotify_add_watch \(path)") { try FileWatch([path]) { _, _ in } }
        expect("bind \(path)") { try SocketListener(on: .unix(path)) { _, _ in } }
        expect("inet_pton localhost") { try RunLoop.SocketAddress.internet("localhost", port: 1) }
        expect("sigaction of signal \(SIGKILL)") { try SignalSource(SIGKILL) { _, _ in } }
        expect("pidfd_open of process \(Int32.max)") { try ChildSource(.max, reaps: false) { _, _ in } }
        expect("sendmsg to \(path)") { try NotifySocket(path).send(.ready) }
        try withLoop { loop in
            let error = Box("")
            let connector = try SocketConnector(to: .unix(path)) { _, outcome in
                if case .failure(let reason) = outcome { error.value = "\(reason)" }
                loop.stop()
            }
            add(connector, to: loop)
            #expect(loop.runPlenty() == .stopped)
            #expect(error.value.hasPrefix("connect \(path): "))
        }
    }
}
