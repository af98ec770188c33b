// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

import Dispatch
import NIOCore
import NIOPosix
import RunLoops
import RunLoopsPorts

/// A task asks another thread, and waits for the answer.
///
/// A run loop is asked through a message port, and a second loop takes the answer in. A queue and SwiftNIO's loop have
/// no messages: they are given a closure.
struct Questions {
    private let port = RunLoop.MessagePort.sendable { _ in RunLoop.MessagePort.Message() }
    private let answers = Hops.startLoop()
    private let queue = DispatchQueue(label: "asked")
    private let nio = MultiThreadedEventLoopGroup(numberOfThreads: 1).next()

    init() throws { try Hops.startLoop().add(port, in: .common) }

    /// A question and its answer are two hops.
    func measure(_ hops: Int) async -> [Row] {
        let (sender, answers, queue, nio) = (port.sender, answers, queue, nio)
        return [
            Row(
                .question, "run loop",
                await Hops.time(hops) {
                    for _ in 0..<hops / 2 {
                        do {
                            _ = try await sender.request(RunLoop.MessagePort.Message(), on: answers)
                        } catch { fatalError("The port does not answer: \(error)") }
                    }
                }),
            Row(
                .question, "Dispatch queue",
                await Hops.time(hops) {
                    for _ in 0..<hops / 2 {
                        await withUnsafeContinuation { continuation in queue.async { continuation.resume() } }
                    }
                }),
            Row(
                .question, "NIO event loop",
                await Hops.time(hops) {
                    for _ in 0..<hops / 2 {
                        do { try await nio.submit {}.get() } catch { fatalError("The loop does not answer: \(error)") }
                    }
                }),
        ]
    }
}
