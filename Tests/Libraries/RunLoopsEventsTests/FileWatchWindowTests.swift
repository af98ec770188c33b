// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

import Glibc
import RunLoops
import RunLoopsEvents
import RunLoopsTestSupport
import Testing

/// How often a watch calls while much is written.
@Suite(.ownThread, .leavesNothing) struct FileWatchWindowTests {
    private static let window = Duration.milliseconds(30)

    @Test func `A file that is written in many pieces is reported when it is complete`() throws {
        try withLoop { loop in
            let directory = TemporaryDirectory()
            let calls = Box<[[FileWatch.Event]]>([])
            let file = FileWatch.File(path: directory.path("file"))
            let watch = try FileWatch([directory.path]) { watch, events in
                calls.value.append(events)
                if events.contains(.written(file)) { watch.invalidate() }
            }
            add(watch, to: loop)
            let writer = TestThread {
                let descriptor = open(file.path, O_WRONLY | O_CREAT | O_CLOEXEC, 0o600)
                let piece = [UInt8](repeating: 1, count: 1 << 21 / 160)
                for _ in 0..<160 {
                    #expect(write(descriptor, piece, piece.count) == piece.count)
                    usleep(100)
                }
                close(descriptor)
            }
            #expect(loop.runPlenty() == .finished)
            writer.join()
            #expect(calls.value.flatMap { $0 } == [.created(file), .written(file)])
            #expect(calls.value.count <= 2)
        }
    }

    @Test func `At its end a window reports each distinct change once, in the order of the last occurrences`() throws {
        try withLoop { loop in
            let directory = TemporaryDirectory()
            let calls = Box<[[FileWatch.Event]]>([])
            let watch = try FileWatch(
                [directory.path], for: [.standard, .modified], coalescing: Self.window
            ) { _, events in
                calls.value.append(events)
                loop.stop()
            }
            add(watch, to: loop)
            let log = FileWatch.File(path: directory.path("log"))
            let other = FileWatch.File(path: directory.path("other"))
            for round in 0..<2 {
                let began = ContinuousClock.now
                for _ in 0..<50 { directory.write("log", "line") }
                directory.write("other")
                unlink(other.path)
                directory.write("other")
                #expect(loop.runPlenty() == .stopped)
                #expect(ContinuousClock.now - began >= Self.window)
                let isNew: [FileWatch.Event] = round == 0 ? [.created(log)] : []
                let end: [FileWatch.Event] = [
                    .modified(log), .written(log), .removed(other), .created(other), .written(other),
                ]
                #expect(calls.value == [isNew + end])
                calls.value = []
                unlink(other.path)
                #expect(loop.runPlenty() == .stopped)
                #expect(calls.value == [[.removed(other)]])
                calls.value = []
            }
        }
    }

    @Test func `While a window is open, further changes do not wake the loop`() throws {
        try withLoop { loop in
            let directory = TemporaryDirectory()
            let sleeps = Box(0)
            let (reports, isWritten) = (Box(0), Locked(false))
            let observer = RunLoop.Observer(.beforeWaiting) { _, _ in sleeps.value += 1 }
            loop.add(observer, in: .default)
            let watch = try FileWatch([directory.path], for: .modified, coalescing: Self.window) { _, _ in
                reports.value += 1
                if isWritten.copy { loop.stop() }
            }
            add(watch, to: loop)
            let writer = TestThread {
                for _ in 0..<200 {
                    directory.write("log", "line")
                    usleep(200)
                }
                loop.perform {
                    isWritten.withLock { $0 = true }
                    // Of the 200 lines all may have been reported.
                    directory.write("log", "end")
                }
            }
            #expect(loop.runPlenty() == .stopped)
            writer.join()
            // For each report the change that opens the window, and the window's end; and the sleep that the closure ends.
            #expect(sleeps.value <= 2 * reports.value + 1)
        }
    }

    @Test func `Directories made during a window are watched`() throws {
        try withLoop { loop in
            let directory = TemporaryDirectory()
            let made = Box<[String]>([])
            let watch = try FileWatch(
                [directory.path], for: .created, recursive: true, coalescing: Self.window
            ) { watch, events in
                for case .created(let file) in events { made.value.append(file.path) }
                loop.stop()
            }
            add(watch, to: loop)
            directory.makeDirectory("a")
            // The window opens.
            loop.runTurn()
            for name in ["a/b", "a/b/c"] { directory.makeDirectory(name) }
            directory.write("a/b/c/file")
            #expect(loop.runPlenty() == .stopped)
            directory.write("a/b/c/later")
            #expect(loop.runPlenty() == .stopped)
            let expected = ["a", "a/b", "a/b/c", "a/b/c/file", "a/b/c/later"].map { directory.path($0) }
            #expect(made.value == expected)
            #expect(watch.watchCount == 4)
        }
    }

    @Test func `A watch invalidated or removed from its loop during a window reports nothing`() throws {
        try withLoop { loop in
            let directory = TemporaryDirectory()
            let calls = Box(0)
            let watch = try FileWatch([directory.path], coalescing: Self.window) { watch, _ in
                calls.value += 1
                watch.invalidate()
            }
            add(watch, to: loop)
            directory.write("file")
            loop.runTurn()
            loop.remove(watch, from: .default)
            #expect(loop.runPlenty() == .finished)
            #expect(calls.value == 0)
            // Added again, it reports what it has collected.
            add(watch, to: loop)
            #expect(loop.runPlenty() == .finished)
            #expect(calls.value == 1)

            let second = try FileWatch([directory.path], coalescing: Self.window) { _, _ in calls.value += 1 }
            add(second, to: loop)
            directory.write("file")
            loop.runTurn()
            second.invalidate()
            #expect(loop.runPlenty() == .finished)
            #expect(calls.value == 1)
        }
    }

    @Test func `The callout at the end of a window has the source location of its watch`() throws {
        try withLoop { loop in
            let directory = TemporaryDirectory()
            let watch = try FileWatch(
                [directory.path], coalescing: Self.window, fileID: "Program/Main.swift", line: 7
            ) { watch, _ in watch.invalidate() }
            add(watch, to: loop)
            directory.write("file")
            let places = TimerPlaces()
            loop.tracer = places
            defer { loop.tracer = nil }
            #expect(loop.runPlenty() == .finished)
            #expect(places.all == ["Program/Main.swift:7"])
        }
    }
}

/// Where the timers were made that a loop calls.
private final class TimerPlaces: LoopTracer {
    private(set) var all: [String?] = []

    func trace(_ event: LoopEvent) {
        if case .calls(.timer, let label) = event { all.append(label.location) }
    }
}
