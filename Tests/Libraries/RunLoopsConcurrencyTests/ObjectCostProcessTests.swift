// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import Glibc
import RunLoops
import RunLoopsCalendar
import RunLoopsConcurrency
import RunLoopsDiagnostics
import RunLoopsEvents
import RunLoopsKit
import RunLoopsPorts
import RunLoopsTestSupport
import Testing

/// How many descriptors, threads and inotify watches 1,000 objects of each kind have: the table of the article Event sources.
///
/// A kind with more than it needs shows in a program that has many objects: a user has 128 inotify descriptors by default, and a
/// process has 1,024 descriptors.
@Suite(.limited, .serialized) struct ObjectCostProcessTests {
    #if compiler(>=6.3)
    @Test(arguments: ObjectKinds.all.map(\.name))
    func `1,000 objects of a kind have the descriptors, threads and watches of the table, and leave none`(name: String)
        async
    {
        let result = await #expect(processExitsWith: .success, observing: [\.standardOutputContent]) { [name] in
            await letDispatchOpenItsTimers()
            try #require(raiseDescriptorLimit() > 4096)
            let kind = try #require(ObjectKinds.all.first { $0.name == name })
            try play(kind)
        }
        if isFull, let result { print(String(decoding: result.standardOutputContent, as: UTF8.self)) }
    }
    #endif
}

private let count = 1000

/// Makes the objects on a thread of its own, and compares what the process has before, meanwhile and afterwards.
private func play(_ kind: ObjectKind) throws {
    try TestThread.run { () throws -> Void in
        let stage = try ObjectStage()
        let loop = RunLoop.current
        let keeper = RunLoop.Source { _ in }
        loop.add(keeper, in: .default)
        /// Has the loop make what it needs for the items that it has.
        func turn() { loop.run(in: .default, for: .milliseconds(1)) }
        // What is made once, for the process or the thread, such as a loop's epoll.
        let first = try kind.make(loop, stage, count)
        turn()
        let before = ObjectCost.present
        var objects: [Any] = []
        for number in 0..<count { objects.append(try kind.make(loop, stage, number)) }
        turn()
        let cost = ObjectCost.present - before
        print("FIG \(kind.name): \(cost)")
        #expect((cost - kind.cost * count).isOfFew, "\(kind.name) costs \(cost)")
        for object in objects { kind.end(object) }
        objects = []
        turn()
        // Ended threads and the other ends of connections go a moment later.
        let end = RunLoop.Instant.now.advanced(by: .seconds(20))
        while !(ObjectCost.present - before).isOfFew, RunLoop.Instant.now < end { turn() }
        #expect((ObjectCost.present - before).isOfFew, "\(kind.name) leaves \(ObjectCost.present - before)")
        kind.end(first)
    }
}

/// The scarce resources that a process uses.
private struct ObjectCost: Equatable, Sendable, CustomStringConvertible {
    var descriptors = 0
    var threads = 0
    var watches = 0

    static var present: ObjectCost {
        var cost = ObjectCost(
            descriptors: countEntries("/proc/self/fd"), threads: namesOfOwnThreads().count, watches: 0)
        guard let directory = opendir("/proc/self/fdinfo") else { return cost }
        defer { closedir(directory) }
        while let entry = readdir(directory) {
            let name = withUnsafePointer(to: &entry.pointee.d_name) {
                $0.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
            }
            guard let file = fopen("/proc/self/fdinfo/\(name)", "r") else { continue }
            defer { fclose(file) }
            var line = [CChar](repeating: 0, count: 512)
            while fgets(&line, CInt(line.count), file) != nil {
                if strncmp(line, "inotify wd:", 11) == 0 { cost.watches += 1 }
            }
        }
        return cost
    }

    /// Whether this is no cost of each object: a thread that the process has once, such as that of the hang watches, may open a
    /// descriptor a moment after the first object was made, or may have one open while the process is looked at.
    var isOfFew: Bool { [descriptors, threads, watches].allSatisfy { abs($0) < 10 } }

    static func - (left: ObjectCost, right: ObjectCost) -> ObjectCost {
        ObjectCost(
            descriptors: left.descriptors - right.descriptors, threads: left.threads - right.threads,
            watches: left.watches - right.watches)
    }

    static func * (cost: ObjectCost, count: Int) -> ObjectCost {
        ObjectCost(descriptors: cost.descriptors * count, threads: cost.threads * count, watches: cost.watches * count)
    }

    var description: String { "\(descriptors) descriptors, \(threads) threads, \(watches) watches" }
}

/// What objects refer to.
private final class ObjectStage {
    let pipe = DescriptorPair.pipe()
    private let directory = TemporaryDirectory()
    var folder: String { directory.path }
    let names: RunLoop.MessagePort.Directory

    init() throws {
        names = try RunLoop.MessagePort.Directory(making: directory.path("names"))
    }

    /// Makes a directory or an empty file.
    func make(_ name: String, _ kind: mode_t) throws -> String {
        let path = "\(folder)/\(name)"
        try #require((kind == S_IFDIR ? mkdir(path, 0o700) : mknod(path, kind | 0o600, 0)) == 0)
        return path
    }
}

private struct ObjectKind: Sendable {
    var name: String
    /// Of one object.
    var cost: ObjectCost
    var make: @Sendable (RunLoop, ObjectStage, Int) throws -> Any
    /// Ends what its release does not end.
    var end: @Sendable (Any) -> Void = { object in
        (object as? RunLoop.Item)?.invalidate()
        (object as? EventSource)?.invalidate()
    }

    init(
        _ name: String, descriptors: Int = 0, threads: Int = 0, watches: Int = 0,
        _ make: @escaping @Sendable (RunLoop, ObjectStage, Int) throws -> Any
    ) {
        self.name = name
        cost = ObjectCost(descriptors: descriptors, threads: threads, watches: watches)
        self.make = make
    }

    func ending(_ end: @escaping @Sendable (Any) -> Void) -> ObjectKind {
        var kind = self
        kind.end = end
        return kind
    }
}

// What an object costs beyond its own descriptors is what it needs: a listener or a stream has its socket, a process its pidfd.
private enum ObjectKinds {
    /// In groups, which the compiler checks one by one.
    static let all = items + sources + files + sockets + sequences + kit + ports + others

    private static func far(_ base: RunLoop.ClockID) -> RunLoop.Timer {
        RunLoop.Timer(.after(.seconds(3600), clock: base)) { _ in }
    }

    private static let items: [ObjectKind] = [
        ObjectKind("Timer") { loop, _, _ in
            let timer = far(.monotonic)
            loop.add(timer, in: .default)
            return timer
        },
        ObjectKind("Timer, boottime clock") { loop, _, _ in
            let timer = far(.boottime)
            loop.add(timer, in: .default)
            return timer
        },
        ObjectKind("Timer, wall clock") { loop, _, _ in
            let timer = far(.realtime)
            loop.add(timer, in: .default)
            return timer
        },
        ObjectKind("Source") { loop, _, _ in
            let source = RunLoop.Source { _ in }
            loop.add(source, in: .default)
            return source
        },
        ObjectKind("Observer") { loop, _, _ in
            let observer = RunLoop.Observer(.entry) { _, _ in }
            loop.add(observer, in: .default)
            return observer
        },
        ObjectKind("DescriptorSource, without its descriptor") { loop, stage, _ in
            let source = RunLoop.DescriptorSource(stage.pipe.first) { _, _ in }
            try loop.add(source, in: .default)
            return source
        },
        ObjectKind("block with a delay") { loop, _, _ in
            let number = Box(0)
            loop.performLocally(after: .seconds(3600)) { number.value += 1 }
            return number
        },
        ObjectKind("CalendarTimer") { loop, _, _ in
            let timer = CalendarTimer(.daily(at: try CalendarSchedule.Time(hour: 3), in: .gmt)) { _, _ in }
            try loop.add(timer, in: .default)
            return timer
        }.ending { ($0 as? CalendarTimer)?.invalidate() },
        ObjectKind("CalendarTimer with the rule again", descriptors: 1) { loop, _, _ in
            var schedule = CalendarSchedule.daily(at: try CalendarSchedule.Time(hour: 3), in: .gmt)
            schedule.rules.clockSetBack = .again(ifBehindBy: .seconds(3600))
            let timer = CalendarTimer(schedule) { _, _ in }
            try loop.add(timer, in: .default)
            return timer
        }.ending { ($0 as? CalendarTimer)?.invalidate() },
    ]

    private static let sources: [ObjectKind] = [
        ObjectKind("SignalSource") { loop, _, _ in
            let source = try SignalSource(SIGUSR1) { _, _ in }
            try loop.add(source, in: .default)
            return source
        },
        ObjectKind("ChildSource", descriptors: 1) { loop, _, _ in
            let source = try ChildSource(getpid(), reaps: false) { _, _ in }
            try loop.add(source, in: .default)
            return source
        },
        ObjectKind("PollSource", descriptors: 1) { _, _, _ in
            try PollSource(prepare: { _ in }, dispatch: { _ in })
        }.ending { ($0 as? PollSource)?.invalidate() },
    ]

    private static let files: [ObjectKind] = [
        ObjectKind("FileWatch of a directory of its own", watches: 1) { loop, stage, number in
            let watch = try FileWatch([try stage.make("\(number)", S_IFDIR)]) { _, _ in }
            try loop.add(watch, in: .default)
            return watch
        },
        ObjectKind("FileFollower of a file of its own", watches: 1) { loop, stage, number in
            let follower = try FileFollower(try stage.make("file \(number)", S_IFREG)) { _, _ in }
            try loop.add(follower, in: .default)
            return follower
        },
        ObjectKind("InputReader, and its pipe", descriptors: 2) { loop, _, _ in
            let pipe = DescriptorPair.pipe()
            let reader = InputReader(RunLoop.File(borrowing: pipe.first), as: .bytes) { _, _ in
                withExtendedLifetime(pipe) {}
            }
            try loop.add(reader, in: .default)
            return reader
        },
        ObjectKind("OutputWriter, without its file") { loop, stage, _ in
            let writer = OutputWriter(RunLoop.File(borrowing: stage.pipe.second)) { _, _ in }
            try loop.add(writer, in: .default)
            return writer
        },
    ]

    private static let sockets: [ObjectKind] = [
        ObjectKind("SocketListener", descriptors: 1) { loop, _, _ in
            let listener = try SocketListener(on: .loopback()) { _, _ in }
            try loop.add(listener, in: .default)
            return listener
        },
        ObjectKind("SocketStream, and the socket of its peer", descriptors: 2) { loop, _, _ in
            let (here, there) = try RunLoop.Socket.pair()
            let stream = SocketStream(here) { _, _ in }
            try loop.add(stream, in: .default)
            return (stream, there)
        }.ending { object in
            guard let (stream, socket) = object as? (SocketStream, RunLoop.Socket) else { return }
            stream.invalidate()
            RunLoop.File(socket).close()
        },
    ]

    private static let sequences: [ObjectKind] = [
        ObjectKind("ticks") { loop, _, _ in loop.ticks(every: .seconds(3600)) },
        ObjectKind("activities") { loop, _, _ in loop.activities(.entry) },
        ObjectKind("readiness, without its descriptor") { loop, stage, _ in try loop.readiness(of: stage.pipe.first) },
        ObjectKind("messages") { loop, _, _ in try loop.messages() },
    ]

    private static let kit: [ObjectKind] = [
        ObjectKind("RunLoopThread", threads: 1) { _, _, _ in try RunLoopThread(name: "many") }.ending { object in
            (object as? RunLoopThread)?.stop()
            (object as? RunLoopThread)?.join()
        },
        ObjectKind("Debouncer with a pending call") { _, _, _ in
            let debouncer = RunLoop.Debouncer(after: .seconds(3600)) {}
            debouncer.call()
            return debouncer
        }.ending { ($0 as? RunLoop.Debouncer)?.invalidate() },
        ObjectKind("Throttle") { _, _, _ in
            let throttle = RunLoop.Throttle(every: .seconds(3600)) {}
            for _ in 0..<2 { throttle.call() }
            return throttle
        }.ending { ($0 as? RunLoop.Throttle)?.invalidate() },
        ObjectKind("WatchdogTimer") { _, _, _ in
            let watchdog = RunLoop.WatchdogTimer(limit: .seconds(3600)) {}
            watchdog.feed()
            return watchdog
        },
        ObjectKind("DisplayLink") { _, _, _ in RunLoop.DisplayLink(framesPerSecond: 0.01) { _ in } },
        ObjectKind("IdleQueue") { _, _, _ in RunLoop.IdleQueue() },
        ObjectKind("NotificationQueue") { _, _, _ in RunLoop.NotificationQueue() },
        ObjectKind("Transaction") { _, _, _ in RunLoop.Transaction() },
    ]

    private static let ports: [ObjectKind] = [
        ObjectKind("MessagePort") { loop, _, _ in
            let port = RunLoop.MessagePort { _ in nil }
            try loop.add(port, in: .default)
            return port
        }.ending { ($0 as? RunLoop.MessagePort)?.invalidate() },
        ObjectKind("MessagePort with a name", descriptors: 2) { loop, stage, number in
            let port = RunLoop.MessagePort { _ in nil }
            try loop.add(port, in: .default)
            try port.publish(as: "port-\(number)", in: stage.names)
            return port
        }.ending { ($0 as? RunLoop.MessagePort)?.invalidate() },
    ]

    private static let others: [ObjectKind] = [
        ObjectKind("HangWatch") { loop, _, _ in
            let watch = try RunLoop.HangWatch { _ in }
            try watch.add(loop)
            return watch
        },
        ObjectKind("Recording") { loop, _, _ in
            let recording = RunLoop.Recording(capacity: 64)
            recording.add(loop)
            return recording
        },
    ]
}
