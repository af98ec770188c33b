// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

import Glibc
import NightlyKit
import RunLoops
import RunLoopsDiagnostics
import RunLoopsEvents
import RunLoopsKit
import RunLoopsPorts

/// Every kind of work, on four loops and from other threads, at rates that leave the machine time.
// Unchecked: what changes belongs to the thread that makes and ends the load.
final class Load: @unchecked Sendable {
    let lateness = Lateness()
    let done = Counter()
    private let isOver = Counter()
    private var threads: [RunLoopThread] = []
    private var workers: [Worker] = []
    private let metering = RunLoop.Metering()
    private let watch: RunLoop.HangWatch
    /// How often a callout was longer than the watch allows, how often the watch has said so, and how often it has seen the stack: on
    /// a busy machine a hang may be over before the watch comes to a processor.
    let hangs = Counter()
    let reports = Counter()
    let stacks = Counter()
    private let folder: String

    init() throws {
        var template = Array("/tmp/soak-XXXXXX".utf8CString)
        guard mkdtemp(&template) != nil else { throw RunLoop.SystemCallError(call: "mkdtemp", code: errno) }
        folder = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
        watch = try RunLoop.HangWatch { [reports, stacks] report in
            if report.callout?.label.hasPrefix(Self.hangLabel) != true { return print("hang: \(report)") }
            if report.stage != .began { reports.add(1) }
            if report.stage == .ended, !report.stack.isEmpty { stacks.add(1) }
        }
        for number in 0..<5 {
            let thread = try RunLoopThread(name: "soak \(number)")
            threads.append(thread)
            try watch.add(thread.loop)
            thread.post { [metering] in metering.add(RunLoop.current) }
        }
        addTimers(to: threads[0].loop)
        try addSignalsAndChildren(to: threads[1].loop)
        try addFiles(to: threads[2].loop)
        try addPorts(to: threads[3].loop)
        addHang(1, to: threads[4].loop)
        post()
        makeThreads()
    }

    /// Ends all of it.
    func end() {
        isOver.set(1)
        for worker in workers { worker.join() }
        // The end of a hang is reported before the thread sleeps.
        threads[4].stop(.dropping)
        threads[4].join()
        watch.stop()
        metering.stop()
        for thread in threads.dropLast() { thread.stop(.dropping) }
        for thread in threads.dropLast() { thread.join() }
        rmdir(folder)
    }

    private func repeatedly(every microseconds: UInt32, _ body: @escaping @Sendable () -> Void) {
        workers.append(
            Worker { [isOver] in
                while isOver.value == 0 {
                    body()
                    usleep(microseconds)
                }
            })
    }

    private func addTimers(to loop: RunLoop) {
        for milliseconds in [1, 2, 5, 10, 20, 50] {
            let timer = RunLoop.Timer.sendable(.every(.milliseconds(milliseconds))) { [lateness, done] timer in
                lateness.add(timer)
                done.add(1)
            }
            loop.add(timer, in: .common)
        }
        let idle = RunLoop.Timer.sendable(.every(.milliseconds(100)), tolerance: .milliseconds(40)) { [done] _ in
            done.add(1)
        }
        loop.add(idle, in: .common)
    }

    /// Computes for much longer than the watch allows, as the watch itself may have to wait for a processor: the watch looks at
    /// the thread's stack and reports it, twice each time.
    ///
    /// Each time under another name: of the same hang the watch reports only the 1st, the 2nd, the 4th and so on.
    private func addHang(_ number: Int, to loop: RunLoop) {
        let label = "\(Self.hangLabel) \(number)"
        let timer = RunLoop.Timer.sendable(.after(.seconds(10)), label: label) { [weak self] _ in
            let end = RunLoop.Instant.now.advanced(by: .seconds(1))
            while RunLoop.Instant.now < end {}
            self?.hangs.add(1)
            self?.done.add(1)
            self?.addHang(number + 1, to: loop)
        }
        loop.add(timer, in: .common)
    }

    private static let hangLabel = "hang"

    private func addSignalsAndChildren(to loop: RunLoop) throws {
        let signals = try SignalSource.sendable(SIGUSR2) { [done] _, _ in done.add(1) }
        try loop.add(signals, in: .common)
        repeatedly(every: 5000) { kill(getpid(), SIGUSR2) }
        repeatedly(every: 50_000) { [done] in
            var child = pid_t()
            var words: [UnsafeMutablePointer<CChar>?] = [strdup("true"), nil]
            defer { free(words[0]) }
            guard posix_spawn(&child, "/bin/true", nil, nil, &words, nil) == 0 else { return }
            let source = try? ChildSource.sendable(child) { source, _ in
                source.invalidate()
                done.add(1)
            }
            if let source { _ = try? loop.add(source, in: .common) }
        }
    }

    private func addFiles(to loop: RunLoop) throws {
        let watch = try FileWatch.sendable([folder]) { [done] _, events in done.add(events.count) }
        try loop.add(watch, in: .common)
        repeatedly(every: 10_000) { [folder] in
            let (first, second) = ("\(folder)/first", "\(folder)/second")
            if let file = fopen(first, "w") {
                fputs("some text", file)
                fclose(file)
            }
            rename(first, second)
            unlink(second)
        }
        var ends: [CInt] = [-1, -1]
        guard socketpair(AF_UNIX, CInt(SOCK_STREAM.rawValue) | CInt(SOCK_NONBLOCK.rawValue), 0, &ends) == 0 else {
            throw RunLoop.SystemCallError(call: "socketpair", code: errno)
        }
        let writing = ends[1]
        let source = RunLoop.DescriptorSource.sendable(ends[0]) { [done] source, _ in
            var bytes = [UInt8](repeating: 0, count: 4096)
            if read(source.descriptor, &bytes, bytes.count) > 0 { done.add(1) }
        }
        try loop.add(source, in: .common)
        repeatedly(every: 1000) { _ = write(writing, "0123456789", 10) }
    }

    private func addPorts(to loop: RunLoop) throws {
        let port = RunLoop.MessagePort.sendable { [done] message in
            done.add(1)
            return message.replyTo == nil ? nil : RunLoop.MessagePort.Message(bytes: message.bytes)
        }
        try loop.add(port, in: .common)
        let sender = port.sender
        let bytes = [UInt8](repeating: 7, count: 1000)
        repeatedly(every: 1000) { try? sender.send(RunLoop.MessagePort.Message(bytes: bytes), within: .seconds(10)) }
        repeatedly(every: 4000) { _ = try? sender.request(RunLoop.MessagePort.Message(bytes: bytes)) }
    }

    /// Closures, signals, waits, and closures with a delay, a part of which is cancelled, to all loops.
    private func post() {
        let loops = threads.map(\.loop)
        let sources = loops.map { [done] loop in
            let source = RunLoop.Source.sendable { _ in done.add(1) }
            loop.add(source, in: .common)
            return source
        }
        repeatedly(every: 500) { [done] in
            for (loop, source) in zip(loops, sources) {
                loop.perform(in: .common) { done.add(1) }
                source.signal()
                loop.wakeUp()
                let delayed = loop.perform(after: .milliseconds(3), in: .common) { done.add(1) }
                if done.value % 3 == 0 { loop.cancel(delayed) }
            }
        }
        repeatedly(every: 7000) { for loop in loops { _ = try? loop.performAndWait { 1 } } }
        repeatedly(every: 100_000) { [metering] in _ = metering.readings() }
    }

    /// Threads that come, do something and go.
    private func makeThreads() {
        repeatedly(every: 20_000) { [done] in
            guard let thread = try? RunLoopThread(name: "short") else { return }
            thread.post { done.add(1) }
            thread.loop.add(RunLoop.Timer.sendable(.every(.milliseconds(1))) { _ in done.add(1) }, in: .default)
            thread.stop(.draining)
            thread.join()
        }
    }
}
