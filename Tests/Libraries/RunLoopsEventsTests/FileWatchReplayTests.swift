// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

import CRunLoopsKernel
import Glibc
import RunLoops
import RunLoopsSystem
import RunLoopsTestSupport
import Testing

@testable import RunLoopsEvents

/// A program that keeps what a watch reports has the names of the tree, whatever happens to the tree.
@Suite(.ownThread, .leavesNothing) struct FileWatchReplayTests {
    private static let total = isThorough ? 100_000 : 6000

    /// Nothing, or two names of random changes, one of which is not UTF-8.
    private static let exclusions = [[], [Array("b".utf8), FileNames.notUTF8]]

    @Test(arguments: 0..<4, exclusions)
    func `Replaying the reports of random changes gives the tree on disk`(seed: UInt64, excluded: [[UInt8]]) throws {
        try withLoop { loop in
            let (directory, elsewhere) = (TemporaryDirectory(), TemporaryDirectory())
            let tree = ReplayedTree(directory.path)
            let watch = try FileWatch([directory.path], recursive: true, excluding: FileWatch.Exclusion(excluded)) {
                _, events in tree.apply(events)
            }
            add(watch, to: loop)
            var changes = RandomChanges(directory.path, elsewhere: elsewhere.path, seed: seed)
            var count = 0
            while count < Self.total / 8 {
                for _ in 0...changes.chance(60) where changes.change() { count += 1 }
                while loop.runTurn(returnsAfterSource: true) == .handledSource {}
                guard agrees(tree, directory, watch.watchCount, changes.log, excluded) else { break }
                changes.clearLog()
            }
            watch.invalidate()
        }
    }

    @Test(arguments: [(0, 1), (1, 3), (2, 1), (3, 3)], exclusions)
    func `Replaying the reports of random changes by other threads gives the tree on disk`(
        scene: (seed: UInt64, threads: Int), excluded: [[UInt8]]
    ) throws {
        let (seed, threads) = scene
        try withLoop { loop in
            let (directory, elsewhere) = (TemporaryDirectory(), TemporaryDirectory())
            let tree = ReplayedTree(directory.path)
            let watch = try FileWatch([directory.path], recursive: true, excluding: FileWatch.Exclusion(excluded)) {
                _, events in tree.apply(events)
            }
            add(watch, to: loop)
            let changes = (0..<threads).map { thread in
                elsewhere.makeDirectory("\(thread)")
                let seed = seed * 10 + UInt64(thread)
                return Locked(RandomChanges(directory.path, elsewhere: elsewhere.path("\(thread)"), seed: seed))
            }
            var count = 0
            while count < Self.total / 8 {
                let (moving, made) = (Locked(threads), Locked(0))
                let movers = changes.map { changes in
                    TestThread {
                        for _ in 0..<200 {
                            if changes.withLock({ $0.change() }) { made.withLock { $0 += 1 } }
                        }
                        moving.withLock { $0 -= 1 }
                    }
                }
                while moving.copy > 0 { loop.runTurn() }
                for mover in movers { mover.join() }
                count += made.copy
                while loop.runTurn(returnsAfterSource: true) == .handledSource {}
                guard agrees(tree, directory, watch.watchCount, changes.flatMap { $0.copy.log }, excluded) else {
                    break
                }
                for changes in changes { changes.withLock { $0.clearLog() } }
            }
            watch.invalidate()
        }
    }

    /// After an overflow, a program reads the tree anew, and replays what comes then.
    @Test(arguments: [(0, false), (1, false), (0, true), (1, true)], exclusions)
    func `Replaying the reports of random changes made during each directory scan gives the tree on disk`(
        scene: (seed: UInt64, overflows: Bool), excluded: [[UInt8]]
    ) throws {
        let (seed, overflows) = scene
        let (directory, elsewhere) = (TemporaryDirectory(), TemporaryDirectory())
        let user = try WatchUser.alone()
        let system = ChangingSystem(user, RandomChanges(directory.path, elsewhere: elsewhere.path, seed: seed))
        var watched = WatchTree(
            system, isRecursive: true, changes: .standard, excluding: FileWatch.Exclusion(excluded))
        try watched.insert(directory.path)
        let tree = ReplayedTree(directory.path)
        while system.count < Self.total / 8 {
            let isOverflown = overflows && system.changes.chance(2) == 0
            system.change()
            system.rest = 20
            for _ in 0..<8 {
                var records = user.readMoves()
                if isOverflown, system.changes.chance(3) == 0 { loseSome(&records, system) }
                watched.apply(records)
                tree.apply(watched.takeEvents())
            }
            system.rest = 0
            repeat {
                watched.apply(user.readMoves())
                tree.apply(watched.takeEvents())
            } while system.bytesWaiting > 0
            if isOverflown { tree.readAnew(excluding: excluded) }
            guard agrees(tree, directory, watched.watchCount, system.changes.log, excluded) else { break }
            system.changes.clearLog()
        }
    }

    /// The name of an exchange is looked at while the move of what it had is still in the queue.
    @Test(arguments: [true, false])
    func `What a look has found in place of a moved entry of another kind is not reported as moved`(
        isDirectory: Bool
    ) throws {
        let (directory, user) = (TemporaryDirectory(), try WatchUser.alone())
        directory.write(isDirectory ? "first" : "second")
        directory.makeDirectory(isDirectory ? "second" : "first")
        let system = ExchangedSystem(user, directory, isDirectory: isDirectory)
        var watched = WatchTree(system, isRecursive: true, changes: .standard, excluding: FileWatch.Exclusion([]))
        try watched.insert(directory.path)
        let tree = ReplayedTree(directory.path)
        tree.readAnew()
        try #require(exchangeFiles(directory.path("first"), directory.path("second")))
        repeat {
            watched.apply(user.readMoves())
            tree.apply(watched.takeEvents())
        } while system.bytesWaiting > 0
        #expect(system.hasChanged)
        #expect(agrees(tree, directory, watched.watchCount, [], []))
    }

    /// Replaces some of the records by the one that says that records are missing.
    private func loseSome(_ records: inout [InotifyRecord], _ system: ChangingSystem) {
        let first = system.changes.chance(records.count + 1)
        let last = first + system.changes.chance(records.count - first + 1)
        let size = records[first..<last].reduce(0) { $0 + $1.size }
        let overflow = InotifyRecord(watch: -1, mask: UInt32(IN_Q_OVERFLOW), size: size)
        records.replaceSubrange(first..<last, with: [overflow])
    }

    private func agrees(
        _ tree: ReplayedTree, _ directory: TemporaryDirectory, _ watchCount: Int, _ changes: [String],
        _ excluded: [[UInt8]]
    ) -> Bool {
        let real = names(below: Array(directory.path.utf8), excluding: excluded)
        let told = tree.names
        let directories = real.count { $0.last == UInt8(ascii: "/") }
        if told == real, tree.others == [], watchCount == directories + 1 {
            tree.clearLast()
            return true
        }
        func text(_ names: Set<[UInt8]>) -> [String] { names.map { FileNames.text($0) }.sorted() }
        Issue.record(
            """
            not reported: \(text(real.subtracting(told))), not there: \(text(told.subtracting(real))), others: \(tree.others), \
            \(watchCount) watched, \(directories) directories
            changes: \(changes)
            reported: \(tree.last)
            """)
        return false
    }
}

/// A system in which the file "second" becomes a directory with an entry before it is looked at, or the directory a file; what had the
/// name is "third" then.
private final class ExchangedSystem: WatchSystem {
    private let directory: TemporaryDirectory
    private let isDirectory: Bool
    private(set) var hasChanged = false

    init(_ user: WatchUser, _ directory: TemporaryDirectory, isDirectory: Bool) {
        (self.directory, self.isDirectory) = (directory, isDirectory)
        super.init(user)
    }

    override func add(_ path: SystemText, _ mask: UInt32) -> CInt {
        // Not at the first look, before the exchange.
        let before: CInt = isDirectory ? 0 : 1
        if !hasChanged, path.bytes.elementsEqual(directory.path("second").utf8), kind(of: path) == before {
            hasChanged = true
            _ = rename(directory.path("second"), directory.path("third"))
            if isDirectory {
                directory.makeDirectory("second")
                directory.makeDirectory("second/entry")
            } else {
                directory.write("second")
            }
        }
        return super.add(path, mask)
    }
}

/// A system in which files change before and after each call of the watch.
private final class ChangingSystem: WatchSystem {
    var changes: RandomChanges
    private(set) var count = 0
    /// How many changes may still be made.
    var rest = 0

    init(_ user: WatchUser, _ changes: RandomChanges) {
        self.changes = changes
        super.init(user)
    }

    func change() {
        for _ in 0...changes.chance(10) where changes.change() { count += 1 }
    }

    private func changeInBetween() {
        guard rest > 0, changes.chance(3) == 0 else { return }
        rest -= 1
        change()
    }

    override func add(_ path: SystemText, _ mask: UInt32) -> CInt {
        changeInBetween()
        defer { changeInBetween() }
        return super.add(path, mask)
    }

    override func kind(of path: SystemText) -> CInt {
        changeInBetween()
        defer { changeInBetween() }
        return super.kind(of: path)
    }

    override func entries(of path: SystemText) -> ([Entry], error: CInt) {
        changeInBetween()
        defer { changeInBetween() }
        return super.entries(of: path)
    }
}
