// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

// The program whose system calls Benchmarks/syscalls counts: `syscalls CASE COUNT` does one kind of operation COUNT times, on a thread of its own,
// since the main loop has the main dispatch queue to look after as well.

import Dispatch
import Glibc
import RunLoops

@main
enum Syscalls {
    static func main() {
        guard CommandLine.arguments.count == 3, let count = Int(CommandLine.arguments[2]) else {
            fatalError("syscalls CASE COUNT")
        }
        switch CommandLine.arguments[1] {
        case "turn": onThread { turn(count) }
        case "source": onThread { source(count) }
        case "wake": wake(count)
        case "timer": onThread { timer(count) }
        case "descriptor": onThread { descriptor(count) }
        case let other: fatalError("no such case: \(other)")
        }
    }
}

/// Turns that find nothing to do; a timer far away keeps the mode from being empty.
func turn(_ count: Int) {
    let loop = RunLoop.current
    loop.add(RunLoop.Timer(.after(.seconds(3600))) { _ in }, in: .default)
    for _ in 0..<count {
        loop.runTurn()
    }
}

/// A source that signals itself for the next turn.
func source(_ count: Int) {
    let loop = RunLoop.current
    var left = count
    let source = RunLoop.Source { source in
        left -= 1
        if left > 0 { source.signal() } else { loop.stop() }
    }
    loop.add(source, in: .default)
    source.signal()
    loop.run()
}

/// One thread of the ping-pong: its loop, and the source with which the other thread calls it.
final class Side: @unchecked Sendable {
    // Written by the side's own thread before `ready`, read by the other after it.
    private(set) var loop: RunLoop!
    private(set) var source: RunLoop.Source!
    let ready = DispatchSemaphore(value: 0)

    func open(_ perform: @escaping () -> Void) {
        loop = .current
        source = RunLoop.Source { _ in perform() }
        loop.add(source, in: .default)
        ready.signal()
    }

    /// Wakes this side from the other's callout.
    ///
    /// Waits until there is something to wake: strace slows each call down so much that the two would mostly meet
    /// awake, and the figure would leave out what a wake-up costs.
    func call() {
        while !loop.isWaiting {}
        source.signal()
        loop.wakeUp()
    }
}

/// Two threads, each asleep in its loop until the other wakes it.
func wake(_ count: Int) {
    let ping = Side()
    let pong = Side()
    let last = startThread {
        pong.open { ping.call() }
        pong.loop.run()
    }
    pong.ready.wait()
    onThread {
        var left = count
        ping.open {
            left -= 1
            if left > 0 { pong.call() } else { ping.loop.stop() }
        }
        pong.call()
        ping.loop.run()
    }
    pong.loop.perform { RunLoop.current.stop() }
    pthread_join(last, nil)
}

/// A timer that repeats every millisecond.
func timer(_ count: Int) {
    let loop = RunLoop.current
    var left = count
    let timer = RunLoop.Timer(.every(.milliseconds(1))) { _ in
        left -= 1
        if left == 0 { loop.stop() }
    }
    loop.add(timer, in: .default)
    loop.run()
}

/// A pipe whose reader takes a byte and writes the next one.
func descriptor(_ count: Int) {
    var ends: [CInt] = [0, 0]
    precondition(pipe(&ends) == 0)
    let (reading, writing) = (ends[0], ends[1])
    let loop = RunLoop.current
    var left = count
    var byte: UInt8 = 0
    let source = RunLoop.DescriptorSource(reading, for: .readable) { _, _ in
        precondition(read(reading, &byte, 1) == 1)
        left -= 1
        if left > 0 { precondition(write(writing, &byte, 1) == 1) } else { loop.stop() }
    }
    do { try loop.add(source, in: .default) } catch { fatalError("\(error)") }
    precondition(write(writing, &byte, 1) == 1)
    loop.run()
}

/// Runs `body` on a new thread.
func startThread(_ body: @escaping @Sendable () -> Void) -> pthread_t {
    final class Body: Sendable {
        let run: @Sendable () -> Void
        init(_ run: @escaping @Sendable () -> Void) { self.run = run }
    }
    var thread = pthread_t()
    let started = pthread_create(
        &thread, nil,
        { body in
            Unmanaged<Body>.fromOpaque(body!).takeRetainedValue().run()
            return nil
        }, Unmanaged.passRetained(Body(body)).toOpaque())
    precondition(started == 0)
    return thread
}

/// Runs `body` on a new thread, and waits for its end.
func onThread(_ body: @escaping @Sendable () -> Void) {
    pthread_join(startThread(body), nil)
}
