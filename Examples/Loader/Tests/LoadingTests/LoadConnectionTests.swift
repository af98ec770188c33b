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
        var response: LoadResponse?
        var bytes: [UInt8] = []
        var modes: Set<RunLoop.Mode> = []
        var ends = 0
        var error: LoadError?
        var whenReceived: (LoadConnection) -> Void = { _ in }

        func connection(_ connection: LoadConnection, didReceive response: LoadResponse) {
            #expect(self.response == nil && bytes.isEmpty && ends == 0)
            self.response = response
            note()
        }

        func connection(_ connection: LoadConnection, didReceive bytes: [UInt8]) {
            #expect(response != nil && ends == 0)
            self.bytes += bytes
            note()
            whenReceived(connection)
        }

        func connectionDidFinish(_ connection: LoadConnection) { end() }

        func connection(_ connection: LoadConnection, didFailWith error: LoadError) {
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
            LoadConnection(server.url(of: "hello"), loader: loader, delegate: recorder).start()
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
            LoadConnection(server.url(of: "hello"), modes: [.common], loader: loader, delegate: recorder).start()
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
                connection = LoadConnection(server.url(of: "a long one"), loader: loader, delegate: recorder)
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
                LoadConnection(server.url(of: "file \($0)"), loader: loader, delegate: cancelled)
            }
            for connection in connections { connection.start() }
            LoadConnection(server.url(of: "the last"), loader: loader, delegate: recorder).start()
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
            let url = server.url(of: "x")
            server.stop()
            let recorder = Recorder()
            LoadConnection(url, loader: loader, delegate: recorder).start()
            #expect(RunLoop.current.run(in: .default, for: .seconds(600)) == .stopped)
            #expect(recorder.ends == 1 && recorder.error == .unreachable && recorder.response == nil)
            loader.stop()
            let late = Recorder()
            LoadConnection(url, loader: loader, delegate: late).start()
            #expect(RunLoop.current.run(in: .default, for: .seconds(600)) == .stopped)
            #expect(late.error == .stopped)
        }
    }

    /// Loads an address to its end.
    private static func load(_ url: String, _ loader: LoaderThread) -> Recorder {
        let recorder = Recorder()
        LoadConnection(url, loader: loader, delegate: recorder).start()
        #expect(RunLoop.current.run(in: .default, for: .seconds(600)) == .stopped)
        #expect(recorder.ends == 1)
        return recorder
    }

    @Test func `Redirects are followed to the file, whose bytes and response alone are received`() throws {
        try withServer { server, loader in
            let recorder = Self.load(server.url(of: "redirect/redirect/a file"), loader)
            #expect(recorder.bytes == Server.contents(of: "a file") && recorder.error == nil)
            #expect(recorder.response?.status == 200 && recorder.response?.redirectCount == 2)
            #expect(recorder.response?.url == server.url(of: "a file"))
            #expect(recorder.response?.contentType == "application/octet-stream")
        }
    }

    @Test func `A circle of redirects, and a redirect to a file of this machine, fail`() throws {
        try withServer { server, loader in
            #expect(Self.load(server.url(of: "circle"), loader).error == .tooManyRedirects)
            let file = Self.load(server.url(of: "redirect/file:///etc/passwd"), loader)
            #expect(file.error == .badAddress && file.bytes.isEmpty)
        }
    }

    @Test(arguments: ["file:///etc/passwd", "gopher://127.0.0.1/", "", "http://", "http://127.0.0.1:99999/"])
    func `An address that is none of http or https fails`(url: String) throws {
        try withServer { _, loader in #expect(Self.load(url, loader).error == .badAddress) }
    }

    @Test func `An error status is a response with the server's bytes`() throws {
        try withServer { server, loader in
            let recorder = Self.load(server.url(of: "status/404/x"), loader)
            #expect(recorder.response?.status == 404 && recorder.error == nil)
            #expect(recorder.bytes == Server.contents(of: "404/x"))
        }
    }

    @Test func `A server that ends in the middle is an error after the bytes that arrived`() throws {
        try withServer { server, loader in
            let recorder = Self.load(server.url(of: "cut/x"), loader)
            let all = Server.contents(of: "x")
            #expect(recorder.response?.status == 200 && recorder.error == .interrupted)
            #expect(recorder.bytes == Array(all.prefix(all.count / 2)))
        }
    }

    @Test func `An empty file has a response and no bytes`() throws {
        let thread = try RunLoopThread(name: "delegate")
        defer {
            thread.stop()
            thread.join()
        }
        try thread.performAndWait {
            let (server, loader) = (try Server { _ in [] }, try LoaderThread())
            defer {
                loader.stop()
                server.stop()
            }
            let recorder = Self.load(server.url(of: "x"), loader)
            #expect(recorder.response?.status == 200 && recorder.bytes.isEmpty && recorder.error == nil)
        }
    }

    @Test func `Cancelling on another thread closes the connection of a file that grows`() throws {
        let thread = try RunLoopThread(name: "delegate")
        defer {
            thread.stop()
            thread.join()
        }
        try thread.performAndWait {
            let (server, loader) = (try Server(growing: ["log"]), try LoaderThread())
            defer {
                loader.stop()
                server.stop()
            }
            let recorder = Recorder()
            let all = Server.contents(of: "log") + Array("more".utf8)
            recorder.whenReceived = { _ in
                if recorder.bytes.count == all.count { RunLoop.current.stop() }
                if recorder.bytes.count == all.count - 4 { server.append(Array("more".utf8), to: "log") }
            }
            let connection = LoadConnection(server.url(of: "log"), loader: loader, delegate: recorder)
            connection.start()
            #expect(RunLoop.current.run(in: .default, for: .seconds(600)) == .stopped)
            #expect(recorder.bytes == all && server.clientCount == 1)
            let other = try RunLoopThread(name: "other")
            try other.performAndWait { connection.cancel() }
            other.stop()
            other.join()
            let limit = ContinuousClock.now + .seconds(600)
            while server.clientCount > 0, ContinuousClock.now < limit { usleep(1000) }
            #expect(server.clientCount == 0 && recorder.ends == 0)
        }
    }

    // In a process of its own: the variable is the whole process's.
    @Test func `The proxy of the environment is asked for other hosts, and not for this machine`() async {
        await #expect(processExitsWith: .success) {
            let (server, loader) = (try Server(), try LoaderThread())
            setenv("http_proxy", server.url, 1)
            unsetenv("no_proxy")
            unsetenv("NO_PROXY")
            for (url, name, count) in [
                ("http://files.invalid/a%20file", "a file", 1), (server.url(of: "near"), "near", 1),
                ("http://files.invalid/redirect/b", "b", 3),
            ] {
                let recorder = Recorder()
                LoadConnection(url, loader: loader, delegate: recorder).start()
                precondition(RunLoop.current.run(in: .default, for: .seconds(600)) == .stopped)
                precondition(
                    recorder.bytes == Server.contents(of: name), "\(url): \(String(describing: recorder.error))")
                precondition(server.proxiedCount == count, "\(url): \(server.proxiedCount)")
            }
            loader.stop()
            server.stop()
        }
    }
}
