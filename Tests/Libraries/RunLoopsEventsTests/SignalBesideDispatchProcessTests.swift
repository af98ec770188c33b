// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

import Dispatch
import Glibc
import RunLoops
import RunLoopsEvents
import RunLoopsTestSupport
import Testing

/// A signal source and a dispatch source of one signal are both told, whichever comes first.
///
/// Each test in a process of its own: libdispatch keeps its handler for ever.
@Suite(
    .ownThread, .leavesNothing,
    .disabled(if: Sanitizer.isThread, "the thread sanitizer holds signals back, and keeps one of a kind"))
struct SignalBesideDispatchProcessTests {
    /// The source that is made first, and how the signals are sent.
    static let cases = ["ours", "dispatch"].flatMap { first in
        ["raise", "kill", "pthread_kill", "outside"].map { "\(first) first, \($0)" }
    }

    // Swift Testing before 6.3 takes no value into an exit test.
    #if compiler(>=6.3)
    @Test(arguments: cases) func `A SignalSource and a Dispatch source both receive each signal once`(_ how: String)
        async
    {
        await #expect(processExitsWith: .success) { [how] in
            let signal = __libc_current_sigrtmin() + 8
            try withLoop { loop in
                let told = Box(0)
                func makeOurs() throws {
                    add(try SignalSource(signal) { _, delivery in told.value += delivery.count }, to: loop)
                }
                let dispatch = CountingDispatchSource(signal)
                if how.hasPrefix("ours") {
                    try makeOurs()
                    dispatch.begin()
                } else {
                    dispatch.begin()
                    try makeOurs()
                }
                loop.runTurn()
                // One by one: Dispatch merges signals that follow each other fast.
                for number in 1...20 {
                    send(signal, how)
                    while told.value < number || dispatch.count < number {
                        _ = loop.run(in: .default, for: .milliseconds(10))
                    }
                }
                // Neither gets a signal twice.
                _ = loop.run(in: .default, for: .milliseconds(50))
                #expect(told.value == 20)
                #expect(dispatch.count == 20)
                dispatch.end()
            }
        }
    }
    #endif

    @Test func `A SignalSource reports no sender if a Dispatch source watches the same signal`() async {
        await #expect(processExitsWith: .success) {
            try withLoop { loop in
                let dispatch = CountingDispatchSource(SIGUSR1)
                dispatch.begin()
                let told = Box<SignalSource.Delivery?>(nil)
                add(
                    try SignalSource(SIGUSR1) { source, delivery in
                        told.value = delivery
                        source.invalidate()
                    }, to: loop)
                kill(getpid(), SIGUSR1)
                #expect(loop.runPlenty() == .finished)
                #expect(told.value?.signal == SIGUSR1 && told.value?.count == 1 && told.value?.sender == nil)
                dispatch.end()
            }
        }
    }

    @Test
    func `Many SignalSources for a Dispatch source's signal leave no descriptor open and take no signal from it`()
        async
    {
        await #expect(processExitsWith: .success) {
            await letDispatchOpenItsTimers()
            try withLoop { loop in
                let dispatch = CountingDispatchSource(SIGUSR2)
                dispatch.begin()
                var before = 0
                for round in 1...100 {
                    let sources = try (0..<3).map { _ in try SignalSource(SIGUSR2) { source, _ in source.invalidate() }
                    }
                    for source in sources { add(source, to: loop) }
                    kill(getpid(), SIGUSR2)
                    #expect(loop.runPlenty() == .finished)
                    while dispatch.count < round { usleep(100) }
                    if round == 1 { before = countOpenDescriptors() }
                }
                // Dispatch may still hold the last sources, and lets them go without anybody's help.
                while countOpenDescriptors() > before { usleep(100) }
                #expect(dispatch.count == 100)
                dispatch.end()
            }
        }
    }

    @Test func `A source added to a loop receives the signals that were sent before it was added`() async {
        await #expect(processExitsWith: .success) {
            try withLoop { loop in
                let dispatch = CountingDispatchSource(SIGUSR1)
                dispatch.begin()
                let told = Box(0)
                let source = try SignalSource(SIGUSR1) { source, delivery in
                    told.value += delivery.count
                    source.invalidate()
                }
                kill(getpid(), SIGUSR1)
                while dispatch.count < 1 { usleep(100) }
                add(source, to: loop)
                #expect(loop.runPlenty() == .finished)
                #expect(told.value == 1)
                dispatch.end()
            }
        }
    }

    @Test func `A signal handler that the program installs later is not replaced`() async {
        await #expect(processExitsWith: .success) {
            try withLoop { loop in
                let told = Box(0)
                add(try SignalSource(SIGUSR1) { _, _ in told.value += 1 }, to: loop)
                signal(SIGUSR1, SIG_IGN)
                loop.runTurn()
                kill(getpid(), SIGUSR1)
                _ = loop.run(in: .default, for: .milliseconds(20))
                #expect(told.value == 0)
            }
        }
    }
}

/// Sends a signal to this process.
private func send(_ signal: CInt, _ how: String) {
    switch how.split(separator: " ").last {
    case "raise": raise(signal)
    case "kill": kill(getpid(), signal)
    case "pthread_kill":
        let end = Permit()
        let other = TestThread { end.wait() }
        other.signal(signal)
        end.signal()
        other.join()
    default:
        var arguments = ["sh", "-c", "kill -\(signal) \(getpid())"].map { (text: String) in strdup(text) } + [nil]
        defer { for argument in arguments { free(argument) } }
        var child: pid_t = 0
        #expect(posix_spawn(&child, "/bin/sh", nil, nil, &arguments, environ) == 0)
        waitpid(child, nil, 0)
    }
}

private final class CountingDispatchSource: Sendable {
    private let told = Locked(0)
    private let registered = DispatchSemaphore(value: 0)
    private let ended = DispatchSemaphore(value: 0)
    // Unchecked: Dispatch's own, which any thread may use.
    nonisolated(unsafe) private let source: any DispatchSourceSignal

    init(_ signal: CInt) {
        nonisolated(unsafe) let source = DispatchSource.makeSignalSource(signal: signal, queue: .global())
        self.source = source
        // A circle, which the end of the source breaks.
        source.setEventHandler { [told] in told.withLock { $0 += Int(source.data) } }
        source.setRegistrationHandler { [registered] in registered.signal() }
        source.setCancelHandler { [ended] in ended.signal() }
    }

    var count: Int { told.count }

    /// Returns when Dispatch has taken the signal.
    func begin() {
        source.resume()
        registered.wait()
    }

    func end() {
        source.cancel()
        ended.wait()
    }
}
