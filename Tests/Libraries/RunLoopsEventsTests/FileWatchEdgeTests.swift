// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

import CRunLoopsKernel
import Glibc
import RunLoops
import RunLoopsSystem
import RunLoopsTestSupport
import Testing

@testable import RunLoopsEvents

/// Names that are not texts, changes before the loop looks, and directories that cannot be watched.
@Suite(.ownThread, .leavesNothing) struct FileWatchEdgeTests {
    // MARK: Names are bytes

    @Test func `A directory whose name is not UTF-8 is watched, and its path is reported as bytes`() throws {
        try withTree { loop, directory, told in
            let watch = try FileWatch([directory.path], recursive: true) { _, new in told.value += new }
            add(watch, to: loop)
            directory.makeDirectory(FileNames.notUTF8)
            drain(loop)
            directory.write(FileNames.notUTF8 + Array("/file".utf8))
            drain(loop)
            let paths = told.value.compactMap { event in
                if case .created(let file) = event { file.pathBytes } else { nil }
            }
            let file = directory.path(FileNames.notUTF8 + Array("/file".utf8))
            #expect(paths == [directory.path(FileNames.notUTF8), file])
            #expect(watch.watchCount == 2)
            watch.invalidate()
        }
    }

    @Test func `insert and remove take a path that is not UTF-8 as bytes`() throws {
        try withTree { loop, directory, told in
            directory.makeDirectory(FileNames.notUTF8)
            let path = directory.path(FileNames.notUTF8)
            let watch = try FileWatch([]) { _, new in told.value += new }
            try watch.insert(bytes: path)
            add(watch, to: loop)
            directory.write(FileNames.notUTF8 + Array("/file".utf8))
            drain(loop)
            #expect(told.value.first == .created(FileWatch.File(path + Array("/file".utf8), isDirectory: false)))
            watch.remove(bytes: path)
            #expect(watch.watchCount == 0)
            #expect(throws: RunLoop.SystemCallError(call: "inotify_add_watch", code: EINVAL)) {
                try watch.insert(bytes: path + [0])
            }
            watch.invalidate()
        }
    }

    @Test func `Of two directories with canonically equal names, one is still watched after the other is removed`()
        throws
    {
        try withTree { loop, directory, told in
            for name in [FileNames.composed, FileNames.decomposed] { directory.makeDirectory(name) }
            let watch = try FileWatch([directory.path], recursive: true) { _, new in told.value += new }
            add(watch, to: loop)
            directory.remove(FileNames.composed)
            drain(loop)
            #expect(watch.watchCount == 2)
            told.value = []
            let name = FileNames.decomposed + Array("/file".utf8)
            directory.write(name)
            drain(loop)
            #expect(told.value.first == .created(FileWatch.File(directory.path(name), isDirectory: false)))
            watch.invalidate()
        }
    }

    @Test func `Removing a path from a watch does not remove a canonically equal path`() throws {
        try withTree { loop, directory, told in
            var paths: [String] = []
            for name in [FileNames.composed, FileNames.decomposed] {
                directory.makeDirectory(name)
                paths.append(directory.path(String(decoding: name, as: UTF8.self)))
            }
            let watch = try FileWatch(paths) { _, new in told.value += new }
            #expect(watch.watchCount == 2)
            watch.remove(paths[0])
            #expect(watch.paths.map { Array($0.utf8) } == [Array(paths[1].utf8)])
            watch.invalidate()
        }
    }

    @Test func `With coalescing the events of two canonically equal names are both reported`() throws {
        try withTree { loop, directory, told in
            let watch = try FileWatch([directory.path], for: .created, coalescing: .milliseconds(5)) { watch, new in
                told.value += new
                watch.invalidate()
            }
            add(watch, to: loop)
            directory.write(FileNames.composed)
            directory.write(FileNames.decomposed)
            #expect(loop.runPlenty() == .finished)
            #expect(told.value.count == 2)
        }
    }

    @Test func `A directory moved to a name that is not UTF-8 is reported as removed, and as created with its files`()
        throws
    {
        try withTree { loop, directory, told in
            directory.makeDirectory("d")
            directory.write("d/file")
            let watch = try FileWatch([directory.path], recursive: true) { _, new in told.value += new }
            add(watch, to: loop)
            directory.move(Array("d".utf8), to: FileNames.notUTF8)
            drain(loop)
            let moved = directory.path(FileNames.notUTF8)
            #expect(
                told.value == [
                    .removed(FileWatch.File(path: directory.path("d"), isDirectory: true)),
                    .created(FileWatch.File(moved, isDirectory: true)),
                    .created(FileWatch.File(moved + Array("/file".utf8), isDirectory: false)),
                ])
            // The way back has a text.
            told.value = []
            directory.move(FileNames.notUTF8, to: Array("e".utf8))
            drain(loop)
            #expect(told.value == [.moved(FileWatch.File(moved, isDirectory: true), to: directory.path("e"))])
            watch.invalidate()
        }
    }

    @Test func `A path that contains a zero byte is refused with EINVAL`() throws {
        try withTree { _, directory, _ in
            directory.makeDirectory("s")
            let path = directory.path("s\0other")
            #expect(throws: RunLoop.SystemCallError(call: "inotify_add_watch", code: EINVAL)) {
                _ = try FileWatch([path]) { _, _ in }
            }
            #expect(throws: RunLoop.SystemCallError(call: "inotify_add_watch", code: EINVAL)) {
                _ = try FileFollower(path) { _, _ in }
            }
        }
    }

    // MARK: The past and the present

    @Test func `A directory made inside one that is moved before the loop turns is watched at its new path`()
        throws
    {
        try withTree { loop, directory, told in
            directory.makeDirectory("a")
            let watch = try FileWatch([directory.path], recursive: true) { _, new in told.value += new }
            add(watch, to: loop)
            directory.makeDirectory("a/sub")
            directory.move("a", to: "b")
            drain(loop)
            #expect(watch.watchCount == 3)
            directory.write("b/sub/file")
            drain(loop)
            let file = FileWatch.File(path: directory.path("b/sub/file"))
            #expect(Array(told.value.suffix(2)) == [.created(file), .written(file)])
            watch.invalidate()
        }
    }

    @Test func `After two directories are exchanged, every file is reported under the directory it is now in`() throws {
        try withTree { loop, directory, told in
            for name in ["a", "b"] { directory.makeDirectory(name) }
            directory.write("a/of a")
            directory.write("b/of b")
            let watch = try FileWatch([directory.path], recursive: true) { _, new in told.value += new }
            add(watch, to: loop)
            let tree = ReplayedTree(directory.path)
            tree.apply(["a", "b"].map { .created(FileWatch.File(path: directory.path($0), isDirectory: true)) })
            tree.apply(["a/of a", "b/of b"].map { .created(FileWatch.File(path: directory.path($0))) })
            directory.exchange("a", "b")
            drain(loop)
            tree.apply(told.value)
            #expect(tree.names == Set(["a/", "b/", "a/of b", "b/of a"].map { Array($0.utf8) }))
            for name in ["a", "b"] {
                told.value = []
                directory.write("\(name)/new")
                drain(loop)
                #expect(told.value.first == .created(FileWatch.File(path: directory.path("\(name)/new"))))
            }
            #expect(watch.watchCount == 3)
            watch.invalidate()
        }
    }

    @Test(arguments: [false, true])
    func `Two files that are exchanged are both reported as created`(_ isRecursive: Bool) throws {
        try withTree { loop, directory, told in
            for name in ["a", "b"] { directory.write(name, name) }
            let watch = try FileWatch([directory.path], recursive: isRecursive) { _, new in told.value += new }
            add(watch, to: loop)
            directory.exchange("a", "b")
            drain(loop)
            let (a, b) = (FileWatch.File(path: directory.path("a")), FileWatch.File(path: directory.path("b")))
            #expect(told.value == [.moved(a, to: b.path), .removed(b), .created(a), .created(b)])
            // And a move to a free name and back leaves that name free.
            unlink(b.path)
            drain(loop)
            told.value = []
            directory.move("a", to: "b")
            directory.move("b", to: "a")
            drain(loop)
            #expect(told.value == [.moved(a, to: b.path), .removed(b), .created(a)])
            watch.invalidate()
        }
    }

    @Test func `A file exchanged with one outside the watched directory is reported as created`()
        throws
    {
        try withTree { loop, directory, told in
            let elsewhere = TemporaryDirectory()
            directory.write("a", "inside")
            elsewhere.write("x", "outside")
            let watch = try FileWatch([directory.path]) { _, new in told.value += new }
            add(watch, to: loop)
            let (inside, outside) = (directory.path("a"), elsewhere.path("x"))
            // The kernel reports an arrival and a departure, or the other way round.
            for (one, other) in [(inside, outside), (outside, inside)] {
                told.value = []
                try #require(exchangeFiles(one, other))
                drain(loop)
                #expect(told.value.last == .created(FileWatch.File(path: inside)))
            }
            // After a move out of the directory nothing has the name.
            #expect(rename(inside, elsewhere.path("y")) == 0)
            drain(loop)
            #expect(told.value.last == .removed(FileWatch.File(path: inside)))
            watch.invalidate()
        }
    }

    @Test func `A directory that is moved to another name and back is reported as two moves`() throws {
        try withTree { loop, directory, told in
            directory.makeDirectory("a")
            let watch = try FileWatch([directory.path], recursive: true) { _, new in told.value += new }
            add(watch, to: loop)
            directory.move("a", to: "b")
            directory.move("b", to: "a")
            drain(loop)
            let (a, b) = (directory.path("a"), directory.path("b"))
            #expect(
                told.value == [
                    .moved(FileWatch.File(path: a, isDirectory: true), to: b),
                    .moved(FileWatch.File(path: b, isDirectory: true), to: a),
                ])
            watch.invalidate()
        }
    }

    // MARK: What cannot be watched

    @Test func `A directory that cannot be watched when the watch is made is reported in the first turn`() throws {
        try withTree { loop, directory, told in
            // Its path is longer than a call takes.
            let deep = DeepDirectory(in: directory.path)
            let watch = try FileWatch([directory.path], recursive: true) { _, new in told.value += new }
            add(watch, to: loop)
            loop.runTurn()
            let error = RunLoop.SystemCallError(call: "inotify_add_watch", code: ENAMETOOLONG)
            #expect(told.value == [.unwatched(deep.path, error)])
            // The same of a path that is inserted.
            told.value = []
            let second = try FileWatch([], recursive: true) { _, new in told.value += new }
            add(second, to: loop)
            try second.insert(directory.path("."))
            loop.runTurn()
            #expect(told.value.count == 1)
            watch.invalidate()
            second.invalidate()
            deep.remove()
        }
    }

    @Test(arguments: [ENOENT, ENOTDIR, EACCES, ENOSPC, ENOMEM])
    func `An existing directory that the system refuses to watch is reported as unwatched with the error`(_ code: CInt)
        throws
    {
        let directory = TemporaryDirectory()
        let user = try WatchUser.alone()
        let system = RefusingSystem(user)
        var tree = WatchTree(system, isRecursive: true, changes: .standard)
        directory.makeDirectory("early")
        system.refusal = code
        try tree.insert(directory.path)
        let error = RunLoop.SystemCallError(call: "inotify_add_watch", code: code)
        #expect(tree.takeEvents() == [.unwatched(directory.path("early"), error)])
        directory.makeDirectory("late")
        tree.apply(user.readMoves())
        let late = FileWatch.File(path: directory.path("late"), isDirectory: true)
        #expect(tree.takeEvents() == [.created(late), .unwatched(late.path, error)])
        // It is looked at again when it has another name.
        system.refusal = 0
        directory.move("late", to: "later")
        tree.apply(user.readMoves())
        #expect(tree.takeEvents() == [.moved(late, to: directory.path("later"))])
        #expect(tree.watchCount == 2)
    }

    @Test func `A directory that cannot be read for lack of a descriptor is reported as unwatched with the error`()
        throws
    {
        let directory = TemporaryDirectory()
        directory.makeDirectory("d")
        let system = RefusingSystem(try WatchUser.alone())
        system.readRefusal = EMFILE
        var tree = WatchTree(system, isRecursive: true, changes: .standard)
        try tree.insert(directory.path)
        #expect(tree.takeEvents() == [.unwatched(directory.path, RunLoop.SystemCallError(call: "open", code: EMFILE))])
    }

    @Test func `A new directory is reported as unwatched if a directory above the watched path was renamed`()
        throws
    {
        try withTree { loop, directory, told in
            directory.makeDirectory("above")
            directory.makeDirectory("above/root")
            let path = directory.path("above/root")
            let watch = try FileWatch([path], recursive: true) { _, new in told.value += new }
            add(watch, to: loop)
            directory.move("above", to: "renamed")
            directory.makeDirectory("renamed/root/new")
            drain(loop)
            #expect(
                told.value == [
                    .created(FileWatch.File(path: path + "/new", isDirectory: true)),
                    .unwatched(path + "/new", RunLoop.SystemCallError(call: "inotify_add_watch", code: ENOENT)),
                ])
            watch.invalidate()
        }
    }

    @Test(.needsMounts)
    func `After an unmount the mounted directory is reported as removed and the directory below as created`() throws {
        try withTree { loop, directory, told in
            directory.makeDirectory("m")
            directory.write("m/below")
            let path = directory.path("m")
            #expect(mountForThisThread(path))
            directory.makeDirectory("m/d")
            let watch = try FileWatch([directory.path], recursive: true) { _, new in told.value += new }
            add(watch, to: loop)
            #expect(unmount(path))
            drain(loop)
            let tree = ReplayedTree(directory.path)
            tree.apply(told.value)
            #expect(tree.names == [Array("m/".utf8), Array("m/below".utf8)])
            #expect(told.value.contains(.removed(FileWatch.File(path: path, isDirectory: true))))
            told.value = []
            directory.write("m/new")
            drain(loop)
            #expect(told.value.first == .created(FileWatch.File(path: path + "/new")))
            watch.invalidate()
        }
    }

    @Test(.needsOwnWorkingDirectory)
    func `A relative path stays valid after the process changes its working directory`() throws {
        try withTree { loop, directory, told in
            // The directory of this thread alone.
            #expect(makeOwnWorkingDirectory())
            directory.makeDirectory("tree")
            directory.makeDirectory("elsewhere")
            #expect(chdir(directory.path) == 0)
            let watch = try FileWatch(["tree"], recursive: true) { _, new in told.value += new }
            add(watch, to: loop)
            let changes = Box<[FileFollower.Change]>([])
            let follower = try FileFollower("settings") { _, change in changes.value.append(change) }
            add(follower, to: loop)
            #expect(chdir(directory.path("elsewhere")) == 0)
            directory.makeDirectory("tree/new")
            directory.write("settings")
            drain(loop)
            directory.write("tree/new/file")
            drain(loop)
            let new = FileWatch.File(path: "tree/new", isDirectory: true)
            let file = FileWatch.File(path: "tree/new/file")
            #expect(told.value == [.created(new), .created(file), .written(file)])
            #expect(changes.value == [.appeared])
            #expect(watch.paths == ["tree"])
            watch.invalidate()
            follower.invalidate()
            #expect(chdir("/") == 0)
        }
    }

    @Test func `After a nested path is removed from a recursive watch, its changes are reported under the outer path`()
        throws
    {
        try withTree { loop, directory, told in
            directory.makeDirectory("inner")
            let inner = directory.path("inner")
            let watch = try FileWatch([inner, directory.path], recursive: true) { _, new in told.value += new }
            add(watch, to: loop)
            watch.remove(inner)
            directory.makeDirectory("inner/new")
            drain(loop)
            #expect(told.value == [.created(FileWatch.File(path: inner + "/new", isDirectory: true))])
            #expect(watch.watchCount == 3)
            watch.invalidate()
        }
    }

    // MARK: Cost

    @Test func `The work for a directory that is moved in and emptied grows linearly with its number of files`()
        throws
    {
        func steps(_ count: Int) throws -> Int {
            let (directory, elsewhere) = (TemporaryDirectory(), TemporaryDirectory())
            elsewhere.makeDirectory("many")
            // Not opened: a process that another test starts would have the file for a moment, and its end is reported.
            for number in 0..<count { mknod(elsewhere.path("many/\(number)"), S_IFREG | 0o600, 0) }
            let user = try WatchUser.alone()
            var tree = WatchTree(WatchSystem(user), isRecursive: true, changes: .standard)
            try tree.insert(directory.path)
            elsewhere.move("many", to: directory.path("many"))
            tree.apply(user.readMoves())
            for number in 0..<count { unlink(directory.path("many/\(number)")) }
            rmdir(directory.path("many"))
            repeat { tree.apply(user.readMoves()) } while user.bytesWaiting > 0
            #expect(tree.takeEvents().count == 2 * count + 2)
            return tree.steps
        }
        let (few, many) = (try steps(500), try steps(5000))
        #expect(many <= 11 * few)
    }
}

/// A directory whose path is longer than a call takes.
private final class DeepDirectory {
    let path: String
    private let levels: Int
    private let name = String(repeating: "d", count: 255)
    private let top: String

    init(in top: String) {
        self.top = top
        var (path, levels) = (top, 0)
        while path.utf8.count + 256 < 4096 {
            path += "/\(name)"
            precondition(mkdir(path, 0o700) == 0, "mkdir: errno \(errno)")
            levels += 1
        }
        let last = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        precondition(mkdirat(last, name, 0o700) == 0, "mkdirat: errno \(errno)")
        close(last)
        self.levels = levels
        self.path = path + "/\(name)"
    }

    func remove() {
        let path = top + String(repeating: "/\(name)", count: levels)
        let last = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        unlinkat(last, name, Int32(AT_REMOVEDIR))
        close(last)
    }
}

/// A system that refuses to watch directories, or to read them.
private final class RefusingSystem: WatchSystem {
    var refusal: CInt = 0
    var readRefusal: CInt = 0

    override func add(_ path: SystemText, _ mask: UInt32) -> CInt {
        refusal != 0 && mask & UInt32(IN_ONLYDIR) != 0 ? -refusal : super.add(path, mask)
    }

    override func entries(of path: SystemText) -> ([Entry], error: CInt) {
        readRefusal != 0 ? ([], readRefusal) : super.entries(of: path)
    }
}

/// A loop, an empty directory, and a place for the reported events.
private func withTree(
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
