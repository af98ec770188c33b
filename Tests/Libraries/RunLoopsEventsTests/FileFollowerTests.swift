// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

import Glibc
import RunLoops
import RunLoopsConcurrency
import RunLoopsEvents
import RunLoopsKit
import RunLoopsTestSupport
import Synchronization
import Testing

/// One path, whichever file is there.
@Suite(.ownThread, .leavesNothing) struct FileFollowerTests {
    // MARK: The file

    @Test func `A run nested in the handler reports what was found with a change before it reports newer changes`()
        throws
    {
        try withLoop { loop in
            let directory = TemporaryDirectory()
            directory.write("file", "old")
            let link = directory.path("link")
            symlink("file", link)
            let told = Box<[String]>([])
            let follower = try FileFollower(link) { _, change in
                told.value.append("\(change)".prefix { $0 != "(" }.description)
                guard change == .vanished else { return }
                loop.runTurn()
                #expect(told.value == ["vanished", "unwatched"])
                unlink(link)
                symlink("file", link)
                for _ in 0..<4 { loop.runTurn() }
                told.value.append("the handler returns")
            }
            add(follower, to: loop)
            // A link to itself: the file is away, and the path cannot be watched (ELOOP).
            unlink(link)
            symlink("link", link)
            for _ in 0..<4 { loop.runTurn() }
            #expect(told.value == ["vanished", "unwatched", "appeared", "the handler returns"])
            follower.invalidate()
        }
    }

    @Test func `A file renamed over the followed file is reported as replaced and is then followed`() throws {
        try following("settings", "old") { follower in
            for _ in 0..<3 {
                follower.directory.write("new", "new contents")
                follower.directory.move("new", to: "settings")
                #expect(follower.changes() == [.replaced])
                follower.directory.write("settings", "more")
                #expect(follower.changes() == [.changed])
            }
            #expect(follower.source.isPresent)
        }
    }

    @Test func `A file removed and recreated is reported as replaced, even with the same inode number`() throws {
        try following("settings", "old") { follower in
            for _ in 0..<3 {
                unlink(follower.path)
                follower.directory.write("settings", "old")
                #expect(follower.changes() == [.replaced])
            }
            unlink(follower.path)
            #expect(follower.changes() == [.vanished])
            #expect(!follower.source.isPresent)
            follower.directory.write("settings")
            #expect(follower.changes() == [.appeared])
            follower.directory.write("settings", "text")
            #expect(follower.changes() == [.changed])
        }
    }

    @Test func `A file that is removed and restored between two checks is not reported as changed`() throws {
        try following("settings", "text") { follower in
            follower.directory.move("settings", to: "elsewhere")
            follower.directory.move("elsewhere", to: "settings")
            #expect(follower.changes() == [])
            follower.directory.move("settings", to: "elsewhere")
            #expect(follower.changes() == [.vanished])
            follower.directory.write("elsewhere", "more")
            #expect(follower.changes() == [])
            follower.directory.move("elsewhere", to: "settings")
            #expect(follower.changes() == [.appeared])
        }
    }

    @Test func `A removed file that another program holds open is reported as vanished`() throws {
        try following("log", "text") { follower in
            let held = open(follower.path, O_RDONLY | O_CLOEXEC)
            defer { close(held) }
            unlink(follower.path)
            #expect(follower.changes() == [.vanished])
            follower.directory.write("log", "text")
            #expect(follower.changes() == [.appeared])
        }
    }

    @Test(arguments: [FileFollower.Moment.written, .modified])
    func `A change is reported when the writer closes the file, or at each write for .modified`(
        _ moment: FileFollower.Moment
    ) throws {
        try following("log", "text", when: moment) { follower in
            let file = try #require(UnsharedFile(Array(follower.path.utf8CString)))
            for _ in 0..<2 {
                file.write("more")
                #expect(follower.changes() == (moment == .modified ? [.changed] : []))
            }
            file.close()
            #expect(follower.changes() == (moment == .modified ? [] : [.changed]))
            truncate(follower.path, 3)
            follower.directory.write("log", "")
            #expect(follower.changes() == [.truncated])
        }
    }

    @Test func `Changes of other files in the directory are not reported`() throws {
        try following("settings", "text") { follower in
            for name in ["other", "settings.new", "setting"] {
                follower.directory.write(name, "text")
                follower.directory.move(name, to: "moved")
                unlink(follower.directory.path("moved"))
            }
            chmod(follower.path, 0o640)
            #expect(follower.changes() == [])
        }
    }

    // MARK: The directories

    @Test func `A follower waits for the missing directories of its path, one after the other`() throws {
        try following("a/b/c/settings") { follower in
            for name in ["a", "a/b", "a/b/c"] {
                follower.directory.makeDirectory(name)
                #expect(follower.changes() == [])
            }
            follower.directory.write("a/b/c/settings")
            #expect(follower.changes() == [.appeared])
            rename(follower.directory.path("a/b"), follower.directory.path("a/away"))
            #expect(follower.changes() == [.vanished])
            // All at once, so that the follower learns of the first alone.
            for name in ["a/b", "a/b/c"] { follower.directory.makeDirectory(name) }
            follower.directory.write("a/b/c/settings")
            #expect(follower.changes() == [.appeared])
            follower.directory.write("a/away/c/settings", "of nobody's interest")
            #expect(follower.changes() == [])
        }
    }

    @Test func `A recreated directory is followed even if a removed file of the old directory is still open`() throws {
        let directory = TemporaryDirectory()
        for name in ["a", "a/b"] { directory.makeDirectory(name) }
        try following("a/b/log", "text", in: directory) { follower in
            for _ in 0..<3 {
                // As by a program that still writes to its old log: the kernel keeps the directory for it.
                let held = open(follower.path, O_WRONLY | O_CLOEXEC)
                defer { close(held) }
                unlink(follower.path)
                #expect(follower.changes() == [.vanished])
                rmdir(follower.directory.path("a/b"))
                #expect(follower.changes() == [])
                follower.directory.makeDirectory("a/b")
                follower.directory.write("a/b/log")
                #expect(follower.changes() == [.appeared])
            }
        }
    }

    @Test func `A file is reported as replaced when a directory above it is replaced`() throws {
        try following("a/b/settings") { follower in
            for round in 0..<3 {
                for name in ["next", "next/b"] { follower.directory.makeDirectory(name) }
                follower.directory.write("next/b/settings", "round \(round)")
                if round > 0 { follower.directory.move("a", to: "old-\(round)") }
                follower.directory.move("next", to: "a")
                #expect(follower.changes() == [round == 0 ? .appeared : .replaced])
            }
        }
    }

    @Test func `A file is reported as replaced when a link in its path leads to another file`() throws {
        let directory = TemporaryDirectory()
        for name in ["one", "two"] {
            directory.makeDirectory(name)
            directory.write("\(name)/settings", name)
        }
        symlink("one", directory.path("current"))
        symlink("current/settings", directory.path("settings"))
        // By the link in the middle of the path, and by a link to it.
        for path in ["current/settings", "settings"] {
            try following(path, in: directory) { follower in
                for name in ["two", "one"] {
                    symlink(name, directory.path("new"))
                    directory.move("new", to: "current")
                    // The old file is still there, and its link tells only those who are on the way.
                    if path == "settings" {
                        let other = name == "one" ? "two" : "one"
                        directory.move("\(other)/settings", to: "\(other)/saved")
                        directory.move("\(other)/saved", to: "\(other)/settings")
                    }
                    #expect(follower.changes() == [.replaced])
                }
            }
        }
    }

    @Test(arguments: ["a/b/settings", "link", "a/../a/b/settings"])
    func `Creating and removing other files beside the file and its directories does not wake the loop`(_ path: String)
        throws
    {
        let directory = TemporaryDirectory()
        for name in ["a", "a/b"] { directory.makeDirectory(name) }
        for name in ["a/b/settings", "a/b/other"] { directory.write(name) }
        symlink("a/b/settings", directory.path("link"))
        try following(path, in: directory) { follower in
            follower.makeNamesComeAndGo("-beside", "/one", "/a/one", "/a/b/one")
            #expect(!follower.wakes)
            // Now the names in its directory are needed, and still no others.
            unlink(follower.path)
            unlink(follower.directory.path("a/b/settings"))
            #expect(follower.changes() == [.vanished])
            follower.makeNamesComeAndGo("-beside", "/a/one")
            #expect(!follower.wakes)
            follower.directory.write(path)
            #expect(follower.changes() == [.appeared])
            follower.makeNamesComeAndGo("-beside", "/one", "/a/one", "/a/b/one")
            #expect(!follower.wakes)
        }
    }

    @Test func `A file is reported as appeared in a recreated directory even if the old directory is still open`()
        throws
    {
        let directory = TemporaryDirectory()
        for name in ["a", "a/b"] { directory.makeDirectory(name) }
        directory.write("a/b/other")
        try following("a/b/settings", in: directory) { follower in
            for _ in 0..<3 {
                let held = open(directory.path("a/b"), O_RDONLY | O_DIRECTORY | O_CLOEXEC)
                defer { close(held) }
                unlink(directory.path("a/b/other"))
                #expect(follower.changes() == [])
                rmdir(directory.path("a/b"))
                directory.makeDirectory("a/b")
                directory.write("a/b/other")
                #expect(follower.changes() == [])
                directory.write("a/b/settings")
                #expect(follower.changes() == [.appeared])
                unlink(follower.path)
                #expect(follower.changes() == [.vanished])
            }
        }
    }

    @Test func `A follower of a symbolic link reports a change or removal of the link`() throws {
        let directory = TemporaryDirectory()
        for name in ["one", "two"] { directory.write(name, name) }
        symlink("one", directory.path("settings"))
        try following("settings", in: directory) { follower in
            symlink("two", directory.path("new"))
            directory.move("new", to: "settings")
            #expect(follower.changes() == [.replaced])
            unlink(follower.path)
            #expect(follower.changes() == [.vanished])
            symlink("one", follower.path)
            #expect(follower.changes() == [.appeared])
            directory.write("one", "more")
            #expect(follower.changes() == [.changed])
            unlink(directory.path("one"))
            #expect(follower.changes() == [.vanished])
            symlink("two", directory.path("new"))
            directory.move("new", to: "settings")
            #expect(follower.changes() == [.appeared])
        }
    }

    // The kernel says nothing of a group's files when it removes the group.
    @Test(.enabled(if: controlGroups != nil))
    func `A control group's file is reported as vanished when the group is removed`() throws {
        try withLoop { loop in
            let group = "\(try #require(controlGroups))/run-loops-\(getpid())"
            let told = Box<[FileFollower.Change]>([])
            let follower = try FileFollower("\(group)/cgroup.events") { _, change in told.value.append(change) }
            add(follower, to: loop)
            for _ in 0..<2 {
                #expect(mkdir(group, 0o700) == 0)
                loop.runUntilIdle()
                #expect(told.value == [.appeared])
                #expect(rmdir(group) == 0)
                loop.runUntilIdle()
                #expect(told.value == [.appeared, .vanished])
                told.value = []
            }
            follower.invalidate()
        }
    }

    // MARK: Windows, modes, ends

    @Test func `With coalescing, the changes in a window are reported once and hardly wake the loop`() throws {
        try following("log", "text", when: .modified, coalescing: .milliseconds(20)) { follower in
            let sleeps = Box(0)
            let observer = RunLoop.Observer(.beforeWaiting) { _, _ in sleeps.value += 1 }
            follower.loop.add(observer, in: .default)
            for _ in 0..<100 { follower.directory.write("log", "line") }
            #expect(follower.changes(stoppingAfter: 1) == [.changed])
            #expect(sleeps.value <= 10)
            for _ in 0..<10 {
                unlink(follower.path)
                follower.directory.write("log", "line")
            }
            #expect(follower.changes(stoppingAfter: 1) == [.replaced])
            unlink(follower.path)
            #expect(follower.changes(stoppingAfter: 1) == [.vanished])
            observer.invalidate()
        }
    }

    @Test func `A follower invalidated in its callout reports nothing more`() throws {
        try withLoop { loop in
            let directory = TemporaryDirectory()
            let calls = Box(0)
            let follower = try FileFollower(directory.path("settings")) { follower, _ in
                calls.value += 1
                follower.invalidate()
            }
            add(follower, to: loop)
            directory.write("settings")
            #expect(loop.runPlenty() == .finished)
            directory.write("settings")
            #expect(calls.value == 1)
            #expect(!follower.isValid)
        }
    }

    @Test func `changes(following:) gives a task the changes in order`() async throws {
        let thread = try RunLoopThread(name: "follower")
        let directory = TemporaryDirectory()
        let changes = try thread.loop.changes(following: directory.path("a/settings"))
        directory.makeDirectory("a")
        // Each in one step: the follower may look in between. Not opened: a child that another test forks meanwhile would close the file
        // later, which is a change.
        for name in ["one", "two"] { try #require(mknod(directory.path(name), S_IFREG | 0o600, 0) == 0) }
        directory.move("one", to: "a/settings")
        var seen: [FileFollower.Change] = []
        for await change in changes {
            seen.append(change)
            switch change {
            case .appeared: directory.move("two", to: "a/settings")
            case .replaced: unlink(directory.path("a/settings"))
            default: break
            }
            if change == .vanished { break }
        }
        #expect(seen == [.appeared, .replaced, .vanished])
        end(thread)
    }

    // The file is renamed between the follower's watch and its look in some of the rounds: that was reported as `.changed`.
    @Test func `Files renamed over the path by another thread are reported as replaced and never as changed`() throws {
        let directory = TemporaryDirectory()
        try withLoop { loop in
            let told = Box<[FileFollower.Change]>([])
            let follower = try FileFollower(directory.path("settings")) { _, change in told.value.append(change) }
            add(follower, to: loop)
            let isDone = Atomic(false)
            let mover = TestThread {
                for _ in 0..<10_000 {
                    // Not opened: a child that another test forks meanwhile would close the file later, which is a change.
                    precondition(mknod(directory.path("next"), S_IFREG | 0o600, 0) == 0)
                    directory.move("next", to: "settings")
                }
                isDone.store(true, ordering: .releasing)
            }
            while !isDone.load(ordering: .acquiring) { loop.runTurn() }
            mover.join()
            loop.runUntilIdle()
            #expect(told.value.first == .appeared)
            #expect(Set(told.value.dropFirst()) == [.replaced])
            follower.invalidate()
        }
    }

    @Test func `Reading the file at each report gives its latest contents after random changes`() throws {
        let directory = TemporaryDirectory()
        try following("a/b/file", when: .modified, in: directory) { follower in
            var random = SeededRandom(7)
            var known: String?
            var number = 0
            var held: CInt = -1
            defer { close(held) }
            for step in 0..<(isThorough ? 20_000 : 1500) {
                for _ in 0..<Int.random(in: 1...4, using: &random) {
                    number += 1
                    let text = "\(number)"
                    switch Int.random(in: 0..<15, using: &random) {
                    case 0, 1: directory.writeIfPossible("a/b/file", text)
                    case 2: unlink(follower.path)
                    case 3:
                        directory.writeIfPossible("new", text)
                        rename(directory.path("new"), follower.path)
                    case 4: rename(directory.path("a"), directory.path("old-a"))
                    case 5: rename(directory.path("old-a"), directory.path("a"))
                    case 6: rename(directory.path("a/b"), directory.path("old-b"))
                    case 7: rename(directory.path("old-b"), directory.path("a/b"))
                    case 8: mkdir(directory.path("a"), 0o700)
                    case 9: mkdir(directory.path("a/b"), 0o700)
                    case 10: rmdir(directory.path(Bool.random(using: &random) ? "a/b" : "old-b"))
                    case 11:
                        close(held)
                        let name = Bool.random(using: &random) ? "a/b" : "a/b/file"
                        held = open(directory.path(name), O_RDONLY | O_CLOEXEC)
                    case 12: directory.writeIfPossible("a/b/other", text)
                    case 13: unlink(directory.path("a/b/other"))
                    default: truncate(follower.path, 1)
                    }
                }
                for change in follower.changes() { known = change == .vanished ? nil : contents(follower.path) }
                #expect(known == contents(follower.path), "step \(step)")
                if known != contents(follower.path) { return }
            }
        }
    }
}

/// A follower, what it follows, and what it has reported.
private final class Following {
    let loop: RunLoop
    let directory: TemporaryDirectory
    let source: FileFollower
    let path: String
    private let told: Box<[FileFollower.Change]>

    init(
        _ loop: RunLoop, _ directory: TemporaryDirectory, _ name: String, _ moment: FileFollower.Moment,
        _ window: Duration
    ) throws {
        (self.loop, self.directory) = (loop, directory)
        path = directory.path(name)
        let told = Box<[FileFollower.Change]>([])
        self.told = told
        source = try FileFollower(path, when: moment, coalescing: window) { _, change in
            told.value.append(change)
            loop.stop()
        }
        #expect(source.path == path)
        add(source, to: loop)
    }

    /// What is reported of what has happened until now.
    func changes() -> [FileFollower.Change] {
        defer { told.value = [] }
        // The kernel has queued all of it, and a report ends a run.
        for _ in 0..<4 { loop.runTurn() }
        return told.value
    }

    /// Whether the kernel has something to tell.
    var wakes: Bool { loop.runTurn(returnsAfterSource: true) == .handledSource }

    /// Each name is what follows the path of the directory.
    func makeNamesComeAndGo(_ names: String...) {
        for name in names {
            let path = directory.path + name
            close(open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0o600))
            rename(path, path + "-moved")
            unlink(path + "-moved")
            mkdir(path, 0o700)
            chmod(path, 0o755)
            rmdir(path)
        }
    }

    /// Waits for so many reports.
    func changes(stoppingAfter count: Int) -> [FileFollower.Change] {
        defer { told.value = [] }
        while told.value.count < count { #expect(loop.runPlenty() == .stopped) }
        return told.value
    }
}

/// Runs `body` with a follower of a file, which is there if it has contents.
private func following(
    _ name: String, _ contents: String? = nil, when moment: FileFollower.Moment = .written,
    coalescing window: Duration = .zero, in directory: TemporaryDirectory = TemporaryDirectory(),
    _ body: @escaping @Sendable (Following) throws -> Void
) throws {
    try withLoop { loop in
        if let contents { directory.write(name, contents) }
        let following = try Following(loop, directory, name, moment, window)
        #expect(following.changes() == [])
        try body(following)
        following.source.invalidate()
    }
}

private func contents(_ path: String) -> String? {
    let file = open(path, O_RDONLY | O_CLOEXEC)
    guard file >= 0 else { return nil }
    defer { close(file) }
    return readText(file)
}

/// Where this process may make control groups of version 2.
private let controlGroups: String? = ["/sys/fs/cgroup", "/sys/fs/cgroup/unified"].first { (path: String) in
    access("\(path)/cgroup.controllers", R_OK) == 0 && access(path, W_OK) == 0
}
