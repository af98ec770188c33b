// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

import Glibc
import NightlyKit
import RunLoops
import RunLoopsKit
import RunLoopsPorts

/// One loop and the counts of what is done to it and by it.
final class Plot: Sendable {
    let thread: RunLoopThread
    private let counts: Counts
    private let source: RunLoop.Source
    private let port: RunLoop.MessagePort
    private let sender: RunLoop.MessagePort.Sender
    private let ends: (read: CInt, write: CInt)
    private let readable: RunLoop.DescriptorSource

    /// What was begun, and what was done.
    private final class Counts: Sendable {
        let posted = Counter(), ran = Counter()
        let signalled = Counter(), seen = Counter(), performed = Counter()
        let added = Counter(), fired = Counter(), early = Counter(), afterInvalid = Counter()
        let written = Counter(), read = Counter()
        let sent = Counter(), received = Counter()
        let asked = Counter(), answered = Counter()
        let delayed = Counter(), cancelled = Counter(), delayedRan = Counter()
        let waits = Counter()
    }

    init(number: Int) throws {
        let counts = Counts()
        self.counts = counts
        thread = try RunLoopThread(name: "plot \(number)")
        source = .sendable { _ in
            // Whatever was signalled before this point is seen.
            counts.seen.raise(to: counts.signalled.value)
            counts.performed.add(1)
        }
        port = .sendable(limits: RunLoop.MessagePort.Limits(queue: 256)) { message in
            counts.received.add(1)
            return message.replyTo == nil ? nil : RunLoop.MessagePort.Message(id: message.id &+ 1)
        }
        sender = port.sender
        var ends: [CInt] = [-1, -1]
        precondition(socketpair(AF_UNIX, CInt(SOCK_STREAM.rawValue) | CInt(SOCK_NONBLOCK.rawValue), 0, &ends) == 0)
        self.ends = (ends[0], ends[1])
        readable = .sendable(ends[0]) { source, _ in
            var bytes = [UInt8](repeating: 0, count: 512)
            let count = read(source.descriptor, &bytes, bytes.count)
            if count > 0 { counts.read.add(count) }
        }
        thread.loop.add(source, in: .common)
        try thread.loop.add(readable, in: .common)
        try thread.loop.add(port, in: .common)
    }

    func post() {
        counts.posted.add(1)
        thread.loop.perform { [counts] in counts.ran.add(1) }
    }

    func signal() {
        counts.signalled.add(1)
        source.signal()
        thread.loop.wakeUp()
    }

    func addTimer(after delay: Duration) {
        counts.added.add(1)
        let due = RunLoop.Instant.now + delay
        let timer = RunLoop.Timer.sendable(.at(due)) { [counts] _ in
            if RunLoop.Instant.now < due { counts.early.add(1) }
            counts.fired.add(1)
        }
        thread.loop.add(timer, in: .common)
    }

    /// The timer may fire or not, but not after the call of `invalidate` on the loop's own thread has returned.
    func addTimerThatIsInvalidated(after delay: Duration) {
        let isInvalid = Counter()
        let timer = RunLoop.Timer.sendable(.after(delay, clock: .monotonic)) { [counts] _ in
            if isInvalid.value > 0 { counts.afterInvalid.add(1) }
        }
        thread.loop.add(timer, in: .default)
        thread.loop.perform {
            timer.invalidate()
            isInvalid.set(1)
        }
        counts.posted.add(1)
        thread.loop.perform { [counts] in counts.ran.add(1) }
    }

    /// One thread adds the source while another makes it invalid: whoever is first, it is in no mode afterwards.
    func addSourceThatIsInvalidated() {
        let source = RunLoop.Source.sendable { _ in }
        guard let spoiler = Worker.start({ source.invalidate() }) else { return }
        for _ in 0..<20 where source.isValid {
            thread.loop.remove(source, from: .default)
            thread.loop.add(source, in: .default)
        }
        spoiler.join()
        check(!thread.loop.contains(source, in: .default), "an invalid source is in a mode")
    }

    func makeReadable() { if write(ends.write, "x", 1) == 1 { counts.written.add(1) } }

    func send() {
        do {
            try sender.send(RunLoop.MessagePort.Message(bytes: [1, 2, 3]), within: .seconds(60))
            counts.sent.add(1)
        } catch {
            check(false, "a port refuses: \(error)")
        }
    }

    func ask() {
        counts.asked.add(1)
        do {
            let answer = try sender.request(RunLoop.MessagePort.Message(id: 41))
            if answer.id == 42 { counts.answered.add(1) }
        } catch {
            check(false, "a port does not answer: \(error)")
        }
    }

    func wait() {
        let value = try? thread.loop.performAndWait { 7 }
        counts.waits.add(1)
        check(value == 7, "a wait returns \(String(describing: value))")
    }

    func performLater(after delay: Duration) {
        counts.delayed.add(1)
        let request = thread.loop.perform(after: delay, in: .common) { [counts] in counts.delayedRan.add(1) }
        // Every second one is cancelled, if it has not run.
        if counts.delayed.value % 2 == 0, thread.loop.cancel(request) { counts.cancelled.add(1) }
    }

    /// Waits for the last of all.
    func settle(until end: RunLoop.Instant) {
        while !isAtRest, RunLoop.Instant.now < end { usleep(10_000) }
    }

    /// Looks at the laws.
    func weigh() {
        let name = thread.attributes.name
        check(
            counts.ran.value == counts.posted.value,
            "\(name): \(counts.ran.value) of \(counts.posted.value) closures ran")
        check(
            counts.seen.value == counts.signalled.value,
            "\(name): \(counts.seen.value) of \(counts.signalled.value) signals were seen")
        check(counts.performed.value <= counts.signalled.value, "\(name): more performs than signals")
        check(
            counts.fired.value == counts.added.value,
            "\(name): \(counts.fired.value) of \(counts.added.value) timers fired")
        check(counts.early.value == 0, "\(name): \(counts.early.value) timers fired early")
        check(counts.afterInvalid.value == 0, "\(name): \(counts.afterInvalid.value) invalid timers fired")
        check(
            counts.read.value == counts.written.value,
            "\(name): \(counts.read.value) of \(counts.written.value) bytes were read")
        check(
            counts.received.value == counts.sent.value + counts.asked.value,
            "\(name): \(counts.received.value) of \(counts.sent.value + counts.asked.value) messages were received")
        check(
            counts.answered.value == counts.asked.value,
            "\(name): \(counts.answered.value) of \(counts.asked.value) requests were answered")
        check(
            counts.delayedRan.value + counts.cancelled.value == counts.delayed.value,
            "\(name): \(counts.delayedRan.value) ran and \(counts.cancelled.value) were cancelled of \(counts.delayed.value)"
        )
        print(
            "\(name): closures \(counts.ran.value), signals \(counts.signalled.value) in \(counts.performed.value) performs, timers"
                + " \(counts.fired.value), bytes \(counts.read.value), messages \(counts.received.value), waits"
                + " \(counts.waits.value), delayed \(counts.delayedRan.value) and \(counts.cancelled.value) cancelled")
    }

    func end() {
        port.invalidate()
        readable.invalidate()
        source.invalidate()
        thread.stop(.draining)
        thread.join()
        close(ends.read)
        close(ends.write)
    }

    private var isAtRest: Bool {
        counts.ran.value == counts.posted.value && counts.seen.value == counts.signalled.value
            && counts.fired.value == counts.added.value && counts.read.value == counts.written.value
            && counts.received.value == counts.sent.value + counts.asked.value
            && counts.delayedRan.value + counts.cancelled.value == counts.delayed.value
    }
}
