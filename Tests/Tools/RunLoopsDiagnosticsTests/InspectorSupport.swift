// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

import CRunLoopsKernel
import Glibc
import RunLoops
import RunLoopsSystem
import RunLoopsTestSupport

@testable import RunLoopsDiagnostics

/// A folder of its own, gone with the value's life.
final class InspectorFolder: Sendable {
    let path: String
    private let temporary: TemporaryDirectory?

    /// A folder that somebody else removes: an exit test ends without a deinit.
    init(of other: String) { (path, temporary) = (other, nil) }

    init() {
        let temporary = TemporaryDirectory()
        (path, self.temporary) = (temporary.path, temporary)
    }

    /// Where the sockets are.
    var directory: String { path + "/sockets" }
}

/// An inspector of the test's own: any number of them can be in a process.
final class TestInspector: Sendable {
    let folder: InspectorFolder
    let server: InspectorServer

    init(
        in folder: InspectorFolder = InspectorFolder(), user: UInt32 = geteuid(),
        patience: InspectorConnection.Patience = .init(),
        accept: @escaping @Sendable (CInt) -> CInt = rl_port_accept
    ) throws {
        self.folder = folder
        server = try InspectorServer(
            InspectorDirectory(folder.directory, makes: true), user: user, patience: patience, accept: accept)
    }

    deinit { server.stop() }

    func connect() throws -> InspectorClient { try InspectorClient(try server.directory.connect(server.name)) }

    /// A connection without manners.
    func connectRaw() throws -> RawClient { RawClient(try server.directory.connect(server.name)) }
}

/// Sends what it likes.
final class RawClient {
    let socket: PrivateDescriptor

    init(_ socket: PrivateDescriptor) { self.socket = socket }

    @discardableResult
    func send(_ bytes: [UInt8]) -> CInt { rl_inspect_send(socket.number, bytes, bytes.count) }

    func send(_ text: String) { send(Array(text.utf8)) }

    /// Everything until the other side closes.
    func readToEnd() -> String {
        var all: [UInt8] = []
        var space = [UInt8](repeating: 0, count: 1 << 16)
        while true {
            let got = rl_inspect_receive(socket.number, &space, space.count)
            if got > 0 {
                all += space[..<Int(got)]
            } else if got == -EAGAIN {
                _ = rl_port_wait(socket.number, Int16(POLLIN), InspectorClient.deadline(plenty))
            } else {
                return String(decoding: all, as: UTF8.self)
            }
        }
    }
}

/// A thread whose loop runs until a test stops it.
final class InspectedThread: Sendable {
    let loop: RunLoop
    private let thread: TestThread

    init(_ inspector: TestInspector, _ setUp: @escaping @Sendable (RunLoop) -> Void = { _ in }) {
        let found = Locked<RunLoop?>(nil)
        let isReady = Permit()
        thread = TestThread {
            let loop = RunLoop.current
            _ = inspector.server.loops.add(loop)
            setUp(loop)
            loop.add(RunLoop.Source(label: "keeps the mode") { _ in }, in: .default)
            found.withLock { $0 = loop }
            isReady.signal()
            _ = loop.run(in: .default, for: plenty)
        }
        isReady.wait()
        guard let loop = found.copy else { preconditionFailure("the thread has left its loop") }
        self.loop = loop
    }

    /// Has the loop turn, and waits for it.
    func turn() {
        let isDone = Permit()
        loop.perform { isDone.signal() }
        loop.wakeUp()
        isDone.wait()
    }

    /// How many listen to the loop.
    func countListeners(_ inspector: TestInspector) -> Int {
        let stream = inspector.server.loops.present.first { $0.loop === loop }?.stream
        let count = Locked<Int>()
        let isDone = Permit()
        loop.perform {
            count.withLock { $0 = stream?.subscriberCount ?? 0 }
            isDone.signal()
        }
        loop.wakeUp()
        isDone.wait()
        return count.copy
    }

    func end() {
        // Once in a turn: a stop before the run has begun would be lost.
        loop.perform { RunLoop.current.stop() }
        loop.wakeUp()
        thread.join()
    }
}

extension InspectorDirectory {
    convenience init(_ path: String, makes: Bool) throws(RunLoop.Inspector.StartError) {
        try self.init(SystemText(prefixOf: path.utf8), makes: makes)
    }
}
