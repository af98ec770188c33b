// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

import Glibc
import RunLoopsTestSupport
import Testing

@testable import RunLoops

/// What comes while a loop enters its host: between its last look and the step in which the host has the thread.
@Suite(.ownThread) struct GuestEntryTests {
    @Test func `The poll descriptor is readable for a closure posted while pollDescriptor is being made`() throws {
        let isShown = try enter { loop in
            let descriptor = try loop.pollDescriptor
            return Host(loop, descriptor).isReady
        }
        #expect(isShown)
    }

    @Test func `The poll descriptor is readable for a closure posted while runReady returns inside a callout`() throws {
        let isShown = try enter { loop in
            var isShown = false
            let descriptor = try loop.pollDescriptor
            let timer = RunLoop.Timer(.after(.zero)) { _ in
                // Awake: in a callout wake-ups leave nothing.
                loop.runReady()
                isShown = Host(loop, descriptor).isReady
            }
            loop.add(timer, in: .default)
            loop.run(in: .default, for: .seconds(1))
            return isShown
        }
        #expect(isShown)
    }

    /// Runs `body` with a loop for which another thread has a closure each time the loop enters its host.
    private func enter(_ body: @escaping @Sendable (RunLoop) throws -> Bool) throws -> Bool {
        try TestThread.run { () -> Result<Bool, any Error> in
            let kernel = InterruptedKernel(EpollKernel())
            let loop = RunLoop(kernel: kernel, threadID: SystemCalls.threadID)
            kernel.enters = {
                let poster = TestThread { loop.perform {} }
                poster.join()
            }
            let outer = RunLoop.replaceCurrent(with: loop)
            defer {
                kernel.enters = {}
                loop.threadEnds()
                _ = RunLoop.replaceCurrent(with: outer)
            }
            return Result { try body(loop) }
        }.get()
    }
}

extension Host {
    fileprivate init(_ loop: RunLoop, _ descriptor: CInt) {
        self.loop = loop
        self.descriptor = descriptor
    }
}

/// The real kernel, with a moment in which another thread acts.
private final class InterruptedKernel: GuestKernel, @unchecked Sendable {
    private let kernel: EpollKernel
    /// Called when the loop has looked, and the host does not have the thread yet.
    var enters: @Sendable () -> Void = {}

    init(_ kernel: EpollKernel) { self.kernel = kernel }

    func now(_ base: RunLoop.ClockID) -> Int64 { kernel.now(base) }
    func makeReadiness() -> any Readiness { kernel.makeReadiness() }
    func wake(_ word: borrowing WakeWord, _ phase: WakeWord.Phase) { kernel.wake(word, phase) }
    func makeGuest() throws(RunLoop.SystemCallError) -> any GuestDescriptor {
        Descriptor(try kernel.makeGuest(), self)
    }

    private final class Descriptor: GuestDescriptor {
        private let one: any GuestDescriptor
        private let kernel: InterruptedKernel

        init(_ one: any GuestDescriptor, _ kernel: InterruptedKernel) { (self.one, self.kernel) = (one, kernel) }

        var descriptor: CInt { one.descriptor }
        func set(_ limit: WaitLimit) {
            kernel.enters()
            one.set(limit)
        }
        func link(_ readiness: any Readiness) -> Bool { one.link(readiness) }
        func silence() { one.silence() }
        func speak() { one.speak() }
        func awaken() { one.awaken() }
        func close() { one.close() }
    }
}
