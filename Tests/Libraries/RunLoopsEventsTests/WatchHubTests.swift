// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

import CRunLoopsKernel
import Glibc
import RunLoops
import RunLoopsKit
import RunLoopsSystem
import RunLoopsTestSupport
import Testing

@testable import RunLoopsEvents

/// Many watches and followers on one inotify descriptor.
@Suite(.ownThread, .leavesNothing) struct WatchHubTests {
    private static let directoryChanges = UInt32(IN_CREATE | IN_DELETE)

    @Test func `1,000 followers and 100 watches of a thread share one descriptor, and each reports its own changes`()
        throws
    {
        try withLoop { loop in
            let directory = TemporaryDirectory()
            let told = Box<[Int]>([])
            var followers: [FileFollower] = []
            for number in 0..<1000 {
                followers.append(
                    try FileFollower(directory.path("file \(number)")) { _, change in
                        #expect(change == .appeared)
                        told.value.append(number)
                    })
            }
            for follower in followers { add(follower, to: loop) }
            let watches = try (0..<100).map { _ in
                try FileWatch([directory.path], for: .created) { _, events in #expect(events.count > 0) }
            }
            let descriptors = Set(
                followers.compactMap { $0.descriptor?.number } + watches.compactMap { $0.descriptor?.number })
            #expect(descriptors.count == 1)
            for number in stride(from: 0, to: 1000, by: 97) { directory.write("file \(number)") }
            for _ in 0..<20 { loop.runTurn() }
            #expect(told.value.sorted() == Array(stride(from: 0, to: 1000, by: 97)))
            for follower in followers { follower.invalidate() }
            for watch in watches { watch.invalidate() }
        }
    }

    @Test
    func `Two watches of one directory report the changes that each asks for, also after one of them is invalidated`()
        throws
    {
        try withLoop { loop in
            let directory = TemporaryDirectory()
            let (first, second) = (Box<[FileWatch.Event]>([]), Box<[FileWatch.Event]>([]))
            let created = try FileWatch([directory.path], for: .created) { _, events in first.value += events }
            let removed = try FileWatch([directory.path], for: .removed) { _, events in second.value += events }
            for watch in [created, removed] { add(watch, to: loop) }
            let file = FileWatch.File(path: directory.path("file"))
            directory.write("file")
            unlink(file.path)
            for _ in 0..<4 { loop.runTurn() }
            #expect(first.value == [.created(file)])
            #expect(second.value == [.removed(file)])
            created.invalidate()
            directory.write("file")
            unlink(file.path)
            for _ in 0..<4 { loop.runTurn() }
            #expect(first.value == [.created(file)])
            #expect(second.value == [.removed(file), .removed(file)])
            removed.invalidate()
        }
    }

    @Test func `A watch is called for records that a watch of another loop has read`() throws {
        let directory = TemporaryDirectory()
        let seen = Locked<Set<String>>([])
        let threads = try (0..<2).map { try RunLoopThread(name: "watch \($0)") }
        var watches: [FileWatch] = []
        for (number, thread) in threads.enumerated() {
            let watch = try FileWatch.sendable([directory.path], for: .created) { _, events in
                for case .created(let file) in events { seen.withLock { _ = $0.insert("\(number) \(file.path)") } }
            }
            add(watch, to: thread.loop)
            watches.append(watch)
        }
        #expect(watches[0].descriptor?.number == watches[1].descriptor?.number)
        for number in 0..<200 { mknod(directory.path("\(number)"), S_IFREG | 0o600, 0) }
        waitUntil { seen.copy.count == 400 }
        for watch in watches { watch.invalidate() }
        for thread in threads { end(thread) }
    }

    @Test func `A watch that is added to its loop later is called for records that another watch has read before`()
        throws
    {
        try withLoop { loop in
            let directory = TemporaryDirectory()
            let (early, late) = (Box(0), Box(0))
            let first = try FileWatch([directory.path], for: .created) { _, events in early.value += events.count }
            let second = try FileWatch([directory.path], for: .created) { _, events in late.value += events.count }
            let follower = try FileFollower(directory.path("a")) { _, _ in late.value += 10 }
            add(first, to: loop)
            directory.write("a")
            for _ in 0..<4 { loop.runTurn() }
            #expect([early.value, late.value] == [1, 0])
            for source in [second, follower] as [EventSource] { add(source, to: loop) }
            for _ in 0..<4 { loop.runTurn() }
            #expect([early.value, late.value] == [1, 11])
            for source in [first, second, follower] as [EventSource] { source.invalidate() }
        }
    }

    @Test func `A window collects changes that another watch reads meanwhile`() throws {
        try withLoop { loop in
            let directory = TemporaryDirectory()
            let (calls, plain) = (Box<[Int]>([]), Box(0))
            let slow = try FileWatch([directory.path], for: .created, coalescing: .milliseconds(20)) { _, events in
                calls.value.append(events.count)
                loop.stop()
            }
            let fast = try FileWatch([directory.path], for: .created) { _, events in plain.value += events.count }
            for watch in [slow, fast] { add(watch, to: loop) }
            for round in 1...3 {
                for number in 0..<5 {
                    directory.write("\(round) \(number)")
                    loop.runTurn()
                }
                // On a busy machine a window ends before the fifth file.
                while calls.value.reduce(0, +) < 5 * round, loop.runPlenty() == .stopped {}
            }
            #expect(calls.value.reduce(0, +) == 15)
            #expect(plain.value == 15)
            for watch in [slow, fast] { watch.invalidate() }
        }
    }

    // MARK: The hub itself

    @Test func `Users of one inode share its watch, and the watch ends with the last of them`() throws {
        let directory = TemporaryDirectory()
        let (hub, first) = WatchHub.withUser(Descriptor(try check("inotify_init1", rl_inotify_create())))
        let second = try #require(hub.makeUser())
        let path = try SystemText(directory.path, for: "test")
        let watch = first.add(path, UInt32(IN_CREATE))
        #expect(watch > 0)
        directory.write("old")
        // The second user gets nothing that is older than its watch, the first one all.
        #expect(second.add(path, UInt32(IN_DELETE)) == watch)
        directory.write("new")
        unlink(directory.path("new"))
        #expect(Self.changes(Self.readAll(second), watch) == ["new \(IN_DELETE)"])
        #expect(Self.changes(Self.readAll(first), watch) == ["old \(IN_CREATE)", "new \(IN_CREATE)"])
        // A user that removes its watch and adds it again gets nothing from before.
        directory.write("gone")
        _ = Self.readAll(second)
        first.remove(watch)
        #expect(first.add(path, UInt32(IN_CREATE)) == watch)
        directory.write("later")
        #expect(Self.changes(Self.readAll(first), watch) == ["later \(IN_CREATE)"])
        second.remove(watch)
        first.remove(watch)
        directory.write("last")
        #expect(Self.changes(first.read(), watch) == [])
        #expect(first.add(path, UInt32(IN_CREATE)) != watch)
        second.leave()
        #expect(hub.makeUser() != nil)
        first.leave()
        #expect(hub.makeUser() == nil)
        #expect(first.add(path, UInt32(IN_CREATE)) == -EBADF)
    }

    @Test func `Bits that no user of a watch asks for any more are taken from the kernel's mask`() throws {
        let directory = TemporaryDirectory()
        let (hub, first) = WatchHub.withUser(Descriptor(try check("inotify_init1", rl_inotify_create())))
        let path = try SystemText(directory.path, for: "test")
        let watch = first.add(path, Self.directoryChanges)
        #expect(first.add(path, UInt32(IN_DELETE)) == watch)
        directory.write("file")
        #expect(first.bytesWaiting == 0)
        let second = try #require(hub.makeUser())
        #expect(second.add(path, Self.directoryChanges) == watch)
        #expect(second.add(path, UInt32(IN_DELETE)) == watch)
        directory.write("second")
        #expect(first.bytesWaiting == 0)
        #expect(second.add(path, UInt32(IN_CREATE)) == watch)
        #expect(first.add(path, UInt32(IN_DELETE)) == watch)
        directory.write("other")
        #expect(Self.changes(first.read(), watch) == [])
        #expect(Self.changes(second.read(), watch) == ["other \(IN_CREATE)"])
    }

    /// The kernel takes a path for a mask, and another directory may come to the path at that moment.
    @Test func `A user whose mask was replaced by accident receives each record, or an overflow`() throws {
        let directory = TemporaryDirectory()
        directory.makeDirectory("first")
        directory.makeDirectory("second")
        let (hub, owner) = WatchHub.withUser(Descriptor(try check("inotify_init1", rl_inotify_create())))
        let other = try #require(hub.makeUser())
        let path = try SystemText(directory.path("first"), for: "test")
        for name in ["first", "second"] {
            #expect(owner.add(try SystemText(directory.path(name), for: "test"), UInt32(IN_CREATE)) > 0)
        }
        for round in 0..<(isFull ? 2000 : 100) {
            let isDone = Locked(false)
            let exchanging = TestThread {
                for number in 0..<50 {
                    _ = exchangeFiles(directory.path("first"), directory.path("second"))
                    mknod(directory.path("first/\(round) \(number)"), S_IFREG | 0o600, 0)
                }
                isDone.withLock { $0 = true }
            }
            while !isDone.copy {
                _ = other.add(path, Self.directoryChanges | UInt32(IN_MOVED_TO))
                _ = other.add(path, UInt32(IN_DELETE_SELF))
            }
            exchanging.join()
            var records: [InotifyRecord] = []
            while owner.bytesWaiting > 0 { records += owner.read() }
            let count = records.count { $0.has(IN_CREATE) }
            #expect(count == 50 || records.contains { $0.has(IN_Q_OVERFLOW) })
        }
    }

    @Test func `A name in a directory above two followed files does not wake the loop`() throws {
        try withLoop { loop in
            let directory = TemporaryDirectory()
            directory.makeDirectory("above")
            directory.makeDirectory("above/below")
            let followers = try ["one", "two"].map { name in
                directory.write("above/below/\(name)")
                return try FileFollower(directory.path("above/below/\(name)")) { _, _ in }
            }
            for follower in followers { add(follower, to: loop) }
            let user = try WatchHub.makeUser(for: SystemCalls.threadID)
            directory.write("above/other")
            unlink(directory.path("above/other"))
            #expect(user.bytesWaiting == 0)
            for follower in followers { follower.invalidate() }
        }
    }

    @Test func `A user counts the bytes of records for others, so that marks in the queue are exact`() throws {
        let (mine, others) = (TemporaryDirectory(), TemporaryDirectory())
        let (hub, first) = WatchHub.withUser(Descriptor(try check("inotify_init1", rl_inotify_create())))
        let second = try #require(hub.makeUser())
        let watch = first.add(try SystemText(mine.path, for: "test"), UInt32(IN_CREATE))
        _ = second.add(try SystemText(others.path, for: "test"), UInt32(IN_CREATE))
        others.write("a")
        mine.write("b")
        others.write("c")
        let informed = Locked(0)
        first.whenInformed { informed.increment() }
        let mark = first.bytesWaiting
        #expect(mark > 0)
        // Another user reads all: the first one is informed, and its mark is the same.
        #expect(second.read().count { $0.watch > 0 } == 2)
        second.informUsers()
        #expect(informed.copy == 1)
        #expect(first.bytesWaiting == mark)
        #expect(first.hasUnreported)
        let records = first.read()
        #expect(records.reduce(0) { $0 + $1.size } == mark)
        #expect(Self.changes(records, watch) == ["b \(IN_CREATE)"])
        #expect(first.bytesWaiting == 0 && !first.hasUnreported)
        #expect(first.read() == [])
    }

    @Test func `Users that read in turn share one portion of the queue`() throws {
        let directory = TemporaryDirectory()
        let (hub, first) = WatchHub.withUser(Descriptor(try check("inotify_init1", rl_inotify_create())))
        let second = try #require(hub.makeUser())
        let path = try SystemText(directory.path, for: "test")
        let watch = first.add(path, Self.directoryChanges)
        #expect(second.add(path, Self.directoryChanges) == watch)
        // Two portions and a half: a record with a short name takes 32 bytes.
        for number in 0..<2500 {
            mknod(directory.path("\(number)"), S_IFREG | 0o600, 0)
            unlink(directory.path("\(number)"))
        }
        let all = first.bytesWaiting
        let records = first.read()
        #expect(records.count < 5000 && first.bytesWaiting > 0)
        #expect(second.read() == records)
        #expect(second.bytesWaiting == first.bytesWaiting)
        // The call for records of the other user, which it has taken already.
        #expect(second.read(fromKernel: false) == [])
        #expect(second.bytesWaiting == first.bytesWaiting)
        var size = records.reduce(0) { $0 + $1.size }
        while first.bytesWaiting > 0 {
            size += first.read().reduce(0) { $0 + $1.size }
            _ = second.read()
        }
        #expect(size == all)
    }

    @Test func `Records of names that are of no interest to a user are not queued for it`() throws {
        let directory = TemporaryDirectory()
        let (hub, first) = WatchHub.withUser(Descriptor(try check("inotify_init1", rl_inotify_create())))
        let second = try #require(hub.makeUser())
        let path = try SystemText(directory.path, for: "test")
        let watch = first.add(path, Self.directoryChanges)
        #expect(second.add(path, Self.directoryChanges) == watch)
        second.setNames([watch: try SystemText("mine", for: "test")])
        let informed = Locked(0)
        second.whenInformed { informed.increment() }
        directory.write("other")
        #expect(Self.changes(first.read(), watch) == ["other \(IN_CREATE)"])
        first.informUsers()
        #expect(informed.copy == 0)
        directory.write("mine")
        #expect(Self.changes(first.read(), watch) == ["mine \(IN_CREATE)"])
        first.informUsers()
        #expect(informed.copy == 1)
        #expect(Self.changes(second.read(), watch) == ["mine \(IN_CREATE)"])
        // Another call with the watch asks for all names.
        #expect(second.add(path, Self.directoryChanges) == watch)
        unlink(directory.path("other"))
        #expect(Self.changes(second.read(), watch) == ["other \(IN_DELETE)"])
    }

    /// Another program makes and removes files in a directory above those of the followers.
    @Test func `A busy directory above many followers does not keep the loop`() throws {
        try withLoop { loop in
            let directory = TemporaryDirectory()
            directory.makeDirectory("empty")
            let told = Box<[Int]>([])
            let followers = try (0..<500).map { number in
                try FileFollower(directory.path("empty/file \(number)")) { _, _ in told.value.append(number) }
            }
            for follower in followers { add(follower, to: loop) }
            for number in 0..<5000 {
                mknod(directory.path("\(number)"), S_IFREG | 0o600, 0)
                unlink(directory.path("\(number)"))
            }
            // As many portions as users were read in one turn, and each passed to all of them.
            let queue = try #require(followers[0].descriptor).number
            let before = rl_bytes_waiting(queue)
            loop.runTurn()
            #expect(before - rl_bytes_waiting(queue) <= 65536)
            directory.write("empty/file 7")
            loop.run { told.value == [7] }
            #expect(told.value == [7])
            for follower in followers { follower.invalidate() }
        }
    }

    @Test
    func `A user that does not read gets an overflow after 16,384 records, and the next records after it has read`()
        throws
    {
        let directory = TemporaryDirectory()
        let (hub, first) = WatchHub.withUser(Descriptor(try check("inotify_init1", rl_inotify_create())))
        let second = try #require(hub.makeUser())
        let path = try SystemText(directory.path, for: "test")
        let watch = first.add(path, Self.directoryChanges)
        #expect(second.add(path, Self.directoryChanges) == watch)
        var count = 0
        for number in 0..<10_000 {
            mknod(directory.path("\(number)"), S_IFREG | 0o600, 0)
            unlink(directory.path("\(number)"))
            if number % 100 == 0 { count += second.read().count { $0.watch == watch } }
        }
        while second.bytesWaiting > 0 { count += second.read().count { $0.watch == watch } }
        #expect(count == 20_000)
        let mark = first.bytesWaiting
        let records = first.read()
        #expect(records.count { $0.has(IN_Q_OVERFLOW) } == 1)
        #expect(records.count { $0.watch == watch } == 16384)
        #expect(records.reduce(0) { $0 + $1.size } == mark)
        directory.write("next")
        #expect(Self.changes(first.read(), watch) == ["next \(IN_CREATE)"])
    }

    @Test func `A repetition is queued once while a user does not read`() throws {
        let directory = TemporaryDirectory()
        directory.write("file")
        let (hub, first) = WatchHub.withUser(Descriptor(try check("inotify_init1", rl_inotify_create())))
        let second = try #require(hub.makeUser())
        let path = try SystemText(directory.path, for: "test")
        let watch = first.add(path, UInt32(IN_MODIFY))
        _ = second.add(path, UInt32(IN_MODIFY))
        for _ in 0..<100 {
            directory.write("file", "line")
            #expect(Self.changes(second.read(), watch) == ["file \(IN_MODIFY)"])
        }
        #expect(Self.changes(first.read(), watch) == ["file \(IN_MODIFY)"])
    }

    @Test func `The end of a directory ends its watch for all users`() throws {
        let directory = TemporaryDirectory()
        directory.makeDirectory("d")
        let (hub, first) = WatchHub.withUser(Descriptor(try check("inotify_init1", rl_inotify_create())))
        let second = try #require(hub.makeUser())
        let path = try SystemText(directory.path("d"), for: "test")
        let watch = first.add(path, UInt32(IN_CREATE))
        #expect(second.add(path, UInt32(IN_DELETE_SELF)) == watch)
        rmdir(directory.path("d"))
        #expect(Self.changes(first.read(), watch) == [" \(IN_IGNORED)"])
        #expect(Self.changes(second.read(), watch) == [" \(IN_DELETE_SELF)", " \(IN_IGNORED)"])
        directory.makeDirectory("d")
        #expect(first.add(path, UInt32(IN_CREATE)) > watch)
    }

    /// All records of the user, in as many portions as there are.
    private static func readAll(_ user: WatchUser) -> [InotifyRecord] {
        var records: [InotifyRecord] = []
        while user.bytesWaiting > 0 { records += user.read() }
        return records
    }

    private static func changes(_ records: [InotifyRecord], _ watch: CInt) -> [String] {
        records.filter { $0.watch == watch }.map { "\($0.name.decoded) \($0.mask & ~UInt32(IN_ISDIR))" }
    }
}

extension WatchUser {
    /// A user with a descriptor of its own.
    static func alone() throws -> WatchUser {
        WatchHub.withUser(Descriptor(try check("inotify_init1", rl_inotify_create()))).1
    }
}
