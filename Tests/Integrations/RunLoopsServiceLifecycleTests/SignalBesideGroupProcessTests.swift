// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

#if ServiceLifecycle
import Glibc
import Logging
import RunLoops
import RunLoopsEvents
import RunLoopsKit
import RunLoopsServiceLifecycle
import RunLoopsTestSupport
import ServiceLifecycle
import Testing
import UnixSignals

/// A group and a source of one signal.
@Suite(
    .limited,
    .disabled(if: Sanitizer.isThread, "the thread sanitizer holds signals back"))
struct SignalBesideGroupProcessTests {
    // Swift Testing before 6.3 takes no value into an exit test.
    #if compiler(>=6.3)
    @Test(arguments: ["the source", "the group"], ["inside", "outside"])
    func `A service group and a signal source both receive a signal, whichever was made first`(
        _ first: String, _ from: String
    ) async {
        await #expect(processExitsWith: .success) { [first, from] in
            let thread = try RunLoopThread(name: "service")
            let told = Locked(0)
            // Made before the group, or in the group's service: there the group has taken the signal.
            let source = { @Sendable () throws in
                let source = try SignalSource.sendable(SIGTERM) { _, delivery in
                    told.withLock { $0 += delivery.count }
                }
                try thread.loop.add(source, in: .common)
            }
            if first == "the source" { try source() }
            let service = RunLoopService(on: thread.loop) { loop in
                if first == "the group" { try source() }
                // When the loop has slept: a source that was there before has noticed the group.
                loop.performLocally(after: .milliseconds(50)) { send(SIGTERM, from) }
            }
            let group = ServiceGroup(
                services: [service], gracefulShutdownSignals: [.sigterm], logger: Logger(label: "test"))
            try await group.run()
            while told.count == 0 { usleep(1000) }
            #expect(told.count == 1)
            thread.stop()
            try await thread.ended()
        }
    }
    #endif

    @Test func `A source and a UnixSignalsSequence both receive a signal`() async {
        await #expect(processExitsWith: .success) {
            let thread = try RunLoopThread(name: "signals")
            let told = Locked(0)
            let signals = await UnixSignalsSequence(trapping: .sigusr1)
            try thread.loop.add(
                try SignalSource.sendable(SIGUSR1) { _, _ in told.increment() }, in: .common)
            var iterator = signals.makeAsyncIterator()
            for number in 1...20 {
                send(SIGUSR1, "outside")
                #expect(await iterator.next() == .sigusr1)
                while told.count < number { usleep(1000) }
            }
            #expect(told.count == 20)
            thread.stop()
            try await thread.ended()
        }
    }
}

private func send(_ signal: CInt, _ from: String) {
    if from == "inside" {
        kill(getpid(), signal)
        return
    }
    var arguments = ["sh", "-c", "kill -\(signal) \(getpid())"].map { (text: String) in strdup(text) } + [nil]
    defer { for argument in arguments { free(argument) } }
    var child: pid_t = 0
    #expect(posix_spawn(&child, "/bin/sh", nil, nil, &arguments, environ) == 0)
    waitpid(child, nil, 0)
}
#endif
