// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

import Glibc
import RunLoops
import RunLoopsEvents
import RunLoopsTestSupport
import Testing

@Suite(.ownThread, .leavesNothing) struct FileWatchTests {
    // MARK: Its life

    @Test func `Changes of a file are reported in order`() throws {
        try withWatched { loop, directory, told in
            let watch = try FileWatch([directory.path], for: [.standard, .modified, .attributes]) { _, new in
                told.value += new
            }
            add(watch, to: loop)
            let file = FileWatch.File(path: directory.path("file"))
            directory.write("file", "text")
            chmod(file.path, 0o644)
            unlink(file.path)
            loop.runTurn()
            #expect(
                told.value == [.created(file), .modified(file), .written(file), .attributes(file), .removed(file)])
        }
    }

    @Test func `Only the requested kinds of changes are reported`() throws {
        try withWatched { loop, directory, told in
            add(try FileWatch([directory.path], for: .removed) { _, new in told.value += new }, to: loop)
            directory.write("file", "text")
            directory.move("file", to: "other")
            unlink(directory.path("other"))
            loop.runTurn()
            #expect(told.value == [.removed(FileWatch.File(path: directory.path("other")))])
        }
    }

    @Test func `A move inside the watch is reported as moved, a move in as created and a move out as removed`() throws {
        try withWatched { loop, directory, told in
            let elsewhere = TemporaryDirectory()
            directory.write("a")
            elsewhere.write("b")
            let changes: FileWatch.Changes = [.created, .removed, .moved]
            add(try FileWatch([directory.path], for: changes) { _, new in told.value += new }, to: loop)
            directory.move("a", to: "c")
            elsewhere.move("b", to: directory.path("b"))
            directory.move("c", to: elsewhere.path("c"))
            loop.runTurn()
            #expect(
                told.value == [
                    .moved(FileWatch.File(path: directory.path("a")), to: directory.path("c")),
                    .created(FileWatch.File(path: directory.path("b"))),
                    .removed(FileWatch.File(path: directory.path("c"))),
                ])
        }
    }

    @Test func `A move from one watched path to another is reported as one move`() throws {
        try withWatched { loop, directory, told in
            directory.makeDirectory("one")
            directory.makeDirectory("two")
            directory.write("one/file")
            let paths = [directory.path("one"), directory.path("two")]
            add(try FileWatch(paths, for: .moved) { _, new in told.value += new }, to: loop)
            directory.move("one/file", to: "two/file")
            loop.runTurn()
            let file = FileWatch.File(path: directory.path("one/file"))
            #expect(told.value == [.moved(file, to: directory.path("two/file"))])
        }
    }

    @Test func `A single file can be watched without its directory`() throws {
        try withWatched { loop, directory, told in
            directory.write("file")
            directory.write("neighbour")
            let path = directory.path("file")
            let watch = try FileWatch([path]) { _, new in told.value += new }
            add(watch, to: loop)
            directory.write("file", "text")
            directory.write("neighbour", "text")
            unlink(path)
            loop.runTurn()
            let file = FileWatch.File(path: path)
            #expect(told.value == [.written(file), .vanished(path)])
            #expect(watch.paths == [])
        }
    }

    @Test func `Paths can be added to a watch and removed from it`() throws {
        try withWatched { loop, directory, told in
            directory.makeDirectory("one")
            directory.makeDirectory("two")
            let watch = try FileWatch([directory.path("one")], for: .created) { _, new in told.value += new }
            add(watch, to: loop)
            try watch.insert(directory.path("two"))
            try watch.insert(directory.path("two"))
            watch.remove(directory.path("one"))
            directory.write("one/file")
            directory.write("two/file")
            loop.runTurn()
            #expect(told.value == [.created(FileWatch.File(path: directory.path("two/file")))])
            #expect(watch.paths == [directory.path("two")])
            #expect(throws: RunLoop.SystemCallError(call: "inotify_add_watch", code: ENOENT)) {
                try watch.insert(directory.path("three"))
            }
            #expect(throws: RunLoop.SystemCallError(call: "inotify_add_watch", code: EEXIST)) {
                try watch.insert(directory.path("./two"))
            }
        }
    }

    // MARK: Trees

    @Test func `Every file and directory of a growing tree is reported once`() throws {
        try withWatched { loop, directory, told in
            let watch = try FileWatch([directory.path], for: .created, recursive: true) { _, new in told.value += new }
            add(watch, to: loop)
            var expected: [String] = []
            // All before the loop looks, and then more of it after each look.
            for round in 0..<20 {
                for place in ["", "/deep", "/deep/deeper"] {
                    directory.makeDirectory("\(round)\(place)")
                    expected.append(directory.path("\(round)\(place)"))
                    if round % 2 == 0 { loop.runTurn() }
                    for file in ["a", "b"] {
                        directory.write("\(round)\(place)/\(file)")
                        expected.append(directory.path("\(round)\(place)/\(file)"))
                    }
                }
            }
            drain(loop)
            #expect(createdPaths(told.value).sorted() == expected.sorted())
            #expect(watch.watchCount == 61)
        }
    }

    @Test func `Every file and directory of a tree that another thread makes is reported once`() throws {
        try withWatched { loop, directory, told in
            let rounds = isFull ? 2000 : 60
            let expected = Locked<[String]>([])
            let watch = try FileWatch([directory.path], for: .created, recursive: true) { _, new in
                told.value += new
                if createdPaths(new).contains(directory.path("end")) { loop.stop() }
            }
            add(watch, to: loop)
            let other = TestThread {
                for round in 0..<rounds {
                    var place = "\(round)"
                    for name in ["", "/deep", "/deeper"] {
                        place += name
                        directory.makeDirectory(place)
                        directory.write(place + "/file")
                        let made = [directory.path(place), directory.path(place + "/file")]
                        expected.withLock { $0 += made }
                    }
                }
                directory.write("end")
            }
            #expect(loop.runPlenty() == .stopped)
            other.join()
            drain(loop)
            let paths = createdPaths(told.value).filter { $0 != directory.path("end") }
            #expect(paths.sorted() == expected.withLock { $0.sorted() })
        }
    }

    @Test func `Directories below a moved directory are watched at their new paths`() throws {
        try withWatched { loop, directory, told in
            directory.makeDirectory("a")
            directory.makeDirectory("a/b")
            directory.makeDirectory("c")
            let changes: FileWatch.Changes = [.created, .moved, .removed]
            let watch = try FileWatch([directory.path], for: changes, recursive: true) { _, new in told.value += new }
            add(watch, to: loop)
            directory.move("a/b", to: "c/d")
            directory.move("c", to: "e")
            drain(loop)
            directory.write("e/d/file")
            drain(loop)
            #expect(
                told.value == [
                    .moved(FileWatch.File(path: directory.path("a/b"), isDirectory: true), to: directory.path("c/d")),
                    .moved(FileWatch.File(path: directory.path("c"), isDirectory: true), to: directory.path("e")),
                    .created(FileWatch.File(path: directory.path("e/d/file"))),
                ])
            #expect(watch.watchCount == 4)
        }
    }

    @Test func `A directory moved out of the tree is no longer watched, and a directory moved in is watched`() throws {
        try withWatched { loop, directory, told in
            let elsewhere = TemporaryDirectory()
            directory.makeDirectory("out")
            directory.makeDirectory("out/deep")
            elsewhere.makeDirectory("in")
            elsewhere.write("in/file")
            let changes: FileWatch.Changes = [.created, .removed]
            let watch = try FileWatch([directory.path], for: changes, recursive: true) { _, new in told.value += new }
            add(watch, to: loop)
            directory.move("out", to: elsewhere.path("out"))
            drain(loop)
            elsewhere.write("out/deep/file")
            drain(loop)
            elsewhere.move("in", to: directory.path("in"))
            drain(loop)
            directory.write("in/other")
            drain(loop)
            #expect(
                told.value == [
                    .removed(FileWatch.File(path: directory.path("out"), isDirectory: true)),
                    .created(FileWatch.File(path: directory.path("in"), isDirectory: true)),
                    .created(FileWatch.File(path: directory.path("in/file"))),
                    .created(FileWatch.File(path: directory.path("in/other"))),
                ])
            #expect(watch.watchCount == 2)
        }
    }

    @Test func `A directory that is removed and recreated is watched`() throws {
        try withWatched { loop, directory, told in
            let changes: FileWatch.Changes = [.created, .removed]
            let watch = try FileWatch([directory.path], for: changes, recursive: true) { _, new in told.value += new }
            add(watch, to: loop)
            for _ in 0..<3 {
                directory.makeDirectory("d")
                rmdir(directory.path("d"))
            }
            directory.makeDirectory("d")
            drain(loop)
            directory.write("d/file")
            drain(loop)
            #expect(told.value.last == .created(FileWatch.File(path: directory.path("d/file"))))
            #expect(watch.watchCount == 2)
        }
    }

    @Test func `Symbolic links are not followed`() throws {
        try withWatched { loop, directory, told in
            let elsewhere = TemporaryDirectory()
            let watch = try FileWatch([directory.path], for: .created, recursive: true) { _, new in told.value += new }
            add(watch, to: loop)
            symlink(elsewhere.path, directory.path("link"))
            // Round and round, if they were.
            symlink(directory.path, directory.path("loop"))
            drain(loop)
            elsewhere.write("file")
            drain(loop)
            #expect(createdPaths(told.value) == [directory.path("link"), directory.path("loop")])
            #expect(watch.watchCount == 1)
        }
    }

    // MARK: The worst

    @Test func `A watched directory that is removed or moved is reported as vanished`() throws {
        try withWatched { loop, directory, told in
            for name in ["removed", "moved", "moved/deep"] { directory.makeDirectory(name) }
            let paths = [directory.path("removed"), directory.path("moved")]
            let watch = try FileWatch(paths, recursive: true) { _, new in told.value += new }
            add(watch, to: loop)
            rmdir(directory.path("removed"))
            directory.move("moved", to: "elsewhere")
            drain(loop)
            directory.write("elsewhere/deep/file")
            drain(loop)
            #expect(told.value == paths.map { .vanished($0) })
            #expect(watch.watchCount == 0)
            // The same path, another directory.
            directory.makeDirectory("removed")
            try watch.insert(directory.path("removed"))
            #expect(watch.paths == [directory.path("removed")])
        }
    }

    private static let maxQueuedEvents = Int(
        readText(open("/proc/sys/fs/inotify/max_queued_events", O_RDONLY | O_CLOEXEC)).dropLast())

    @Test(.enabled(if: maxQueuedEvents ?? .max <= 200_000, "inotify's queue is too long to be filled in a test"))
    func `If inotify's queue overflows, this is reported once, and afterwards the whole tree is watched`() throws {
        let limit = try #require(Self.maxQueuedEvents)
        try withWatched { loop, directory, told in
            directory.makeDirectory("early")
            directory.makeDirectory("gone")
            let watch = try FileWatch([directory.path], for: [.created, .removed], recursive: true) { _, new in
                told.value += new
            }
            add(watch, to: loop)
            // Two events each, which are not alike, and are not merged.
            for _ in 0..<(limit / 2 + 1) {
                directory.makeDirectory("flood")
                rmdir(directory.path("flood"))
            }
            // The watch does not report these.
            directory.makeDirectory("early/late")
            rmdir(directory.path("gone"))
            drain(loop)
            #expect(told.value.count { $0 == .overflowed } == 1)
            #expect(watch.watchCount == 3)
            told.value = []
            directory.write("early/late/file")
            drain(loop)
            #expect(told.value == [.created(FileWatch.File(path: directory.path("early/late/file")))])
        }
    }

    @Test func `A watch invalidated in its closure reports nothing more`() throws {
        try withWatched { loop, directory, told in
            let watch = try FileWatch([directory.path], for: .created) { watch, new in
                told.value += new
                watch.invalidate()
            }
            add(watch, to: loop)
            directory.write("a")
            #expect(loop.runPlenty() == .finished)
            directory.write("b")
            #expect(loop.runTurn() == .finished)
            #expect(createdPaths(told.value) == [directory.path("a")])
            #expect(watch.paths == [])
        }
    }

    @Test func `Changes in a thousand paths of one watch are all reported`() throws {
        try withWatched { loop, directory, told in
            let paths = (0..<1000).map { directory.path("\($0)") }
            for place in 0..<1000 { directory.makeDirectory("\(place)") }
            add(try FileWatch(paths, for: .created) { _, new in told.value += new }, to: loop)
            for place in 0..<1000 { directory.write("\(place)/file") }
            drain(loop)
            #expect(createdPaths(told.value) == paths.map { $0 + "/file" })
        }
    }
}

/// A loop, an empty directory, and a place for the reported events.
private func withWatched(
    _ body: @escaping @Sendable (RunLoop, TemporaryDirectory, Box<[FileWatch.Event]>) throws -> Void
) throws {
    try withLoop { loop in
        let directory = TemporaryDirectory()
        try withExtendedLifetime(directory) { try body(loop, directory, Box([])) }
    }
}

/// Polls until nothing is ready: the watch has then reported what this thread did before.
private func drain(_ loop: RunLoop) {
    while loop.runTurn(returnsAfterSource: true) == .handledSource {}
}

private func createdPaths(_ events: [FileWatch.Event]) -> [String] {
    events.compactMap { event in
        if case .created(let file) = event { file.path } else { nil }
    }
}
