// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

import Glibc
import Loading
import RunLoops
import RunLoopsKit
import Serving
import Testing

/// Connections on a thread of their own, whose loop the test runs.
@Suite(.timeLimit(.minutes(10))) struct LoadConnectionTests {
    private final class Recorder: LoadDelegate {
        var bytes: [UInt8] = []
        var modes: Set<RunLoop.Mode> = []
        var ends = 0
        var error: (any Error)?
        var whenReceived: (LoadConnection) -> Void = { _ in }

        func connection(_ connection: LoadConnection, didReceive bytes: [UInt8]) {
            self.bytes += bytes
            note()
            whenReceived(connection)
        }

        func connectionDidFinish(_ connection: LoadConnection) { end() }

        func connection(_ connection: LoadConnection, didFailWith error: any Error) {
            self.error = error
            end()
        }

        private func note() { if let mode = RunLoop.current.currentMode { modes.insert(mode) } }

        private func end() {
            note()
            ends += 1
            RunLoop.current.stop()
        }
    }

    /// Runs a body on a thread with a server and a loader, which are stopped afterwards.
    private func withServer(_ body: @escaping @Sendable (Server, LoaderThread) throws -> Void) throws {
        let thread = try RunLoopThread(name: "delegate")
        defer {
            thread.stop()
            thread.join()
        }
        try thread.performAndWait {
            let (server, loader) = (try Server(), try LoaderThread())
            defer {
                loader.stop()
                server.stop()
            }
            try body(server, loader)
        }
    }

    @Test func `A delegate receives all bytes and one completion call in the connection's mode`() throws {
        try withServer { server, loader in
            let recorder = Recorder()
            LoadConnection("hello", port: server.port, loader: loader, delegate: recorder).start()
            // The default mode is not run here: the delegate waits.
            try RunLoop.current.addCommonMode(.tracking)
            let timer = RunLoop.Timer(.after(.milliseconds(30))) { _ in RunLoop.current.stop() }
            RunLoop.current.add(timer, in: .tracking)
            RunLoop.current.run(in: .tracking, until: nil)
            #expect(recorder.bytes.isEmpty)
            #expect(RunLoop.current.run(in: .default, for: .seconds(600)) == .stopped)
            #expect(recorder.bytes == Server.contents(of: "hello"))
            #expect(recorder.ends == 1)
            #expect(recorder.modes == [.default])
        }
    }

    @Test func `A connection in the common modes loads in the tracking mode`() throws {
        try withServer { server, loader in
            let recorder = Recorder()
            try RunLoop.current.addCommonMode(.tracking)
            LoadConnection("hello", port: server.port, modes: [.common], loader: loader, delegate: recorder).start()
            #expect(RunLoop.current.run(in: .tracking, for: .seconds(600)) == .stopped)
            #expect(recorder.bytes == Server.contents(of: "hello"))
            #expect(recorder.modes == [.tracking])
        }
    }

    @Test func `A cancelled connection does not call its delegate and releases it`() throws {
        try withServer { server, loader in
            weak var released: Recorder?
            var connection: LoadConnection?
            do {
                let recorder = Recorder()
                released = recorder
                recorder.whenReceived = { connection in
                    connection.cancel()
                    // A second call does nothing.
                    connection.cancel()
                }
                connection = LoadConnection("a long one", port: server.port, loader: loader, delegate: recorder)
                connection?.start()
            }
            while released != nil,
                RunLoop.current.run(in: .default, for: .seconds(600), returnsAfterSource: true)
                    == .handledSource
            {}
            #expect(released == nil)
            // A connection that was cancelled does not start again.
            connection?.start()
            weak var kept: LoadConnection?
            kept = connection
            connection = nil
            // The loader's thread may still be about to see that there is nothing to start.
            let limit = ContinuousClock.now + .seconds(600)
            while kept != nil, ContinuousClock.now < limit {
                RunLoop.current.run(in: .default, for: .milliseconds(5))
                usleep(1000)
            }
            #expect(kept == nil)
        }
    }

    @Test func `A connection loads after another thread has cancelled the connections queued before it`() throws {
        try withServer { server, loader in
            let (cancelled, recorder) = (Recorder(), Recorder())
            let connections = (0..<8).map {
                LoadConnection("file \($0)", port: server.port, loader: loader, delegate: cancelled)
            }
            for connection in connections { connection.start() }
            LoadConnection("the last", port: server.port, loader: loader, delegate: recorder).start()
            let other = try RunLoopThread(name: "other")
            try other.performAndWait { for connection in connections { connection.cancel() } }
            other.stop()
            other.join()
            while recorder.ends == 0 { _ = RunLoop.current.run(in: .default, for: .seconds(600)) }
            #expect(recorder.bytes == Server.contents(of: "the last"))
            #expect(cancelled.error == nil)
        }
    }

    @Test func `A refused connection fails once, and a connection started after the loader's stop fails`() throws {
        try withServer { server, loader in
            let port = server.port
            server.stop()
            let recorder = Recorder()
            LoadConnection("x", port: port, loader: loader, delegate: recorder).start()
            #expect(RunLoop.current.run(in: .default, for: .seconds(600)) == .stopped)
            #expect(recorder.ends == 1)
            loader.stop()
            let late = Recorder()
            LoadConnection("x", port: port, loader: loader, delegate: late).start()
            #expect(RunLoop.current.run(in: .default, for: .seconds(600)) == .stopped)
            #expect(late.error is LoadError)
        }
    }
}
