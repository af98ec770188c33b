// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

import CRunLoopsKernel
import Glibc
import RunLoops
import RunLoopsSystem
import RunLoopsTestSupport
import Testing

@testable import RunLoopsEvents

/// Several threads move directories, faster than the watch reads.
@Suite(.ownThread, .leavesNothing) struct FileWatchStormTests {
    private static let rounds = isFull ? 25 : isThorough ? 20 : 3

    private static var queueLength: Int {
        let file = open("/proc/sys/fs/inotify/max_queued_events", O_RDONLY | O_CLOEXEC)
        defer { close(file) }
        return Int(readText(file).prefix { $0 != "\n" }) ?? .max
    }

    /// Directories that are moved in one directory, or also into each other's trees.
    @Test(arguments: 0..<rounds, [(false, []), (true, []), (false, ["3", "1*"]), (true, ["3", "1*", "27"])])
    func `Each directory is watched after three threads have moved directories and the queue has overflowed`(
        round: Int, scene: (isDeep: Bool, excluded: [String])
    ) throws {
        let (isDeep, exclusion) = (scene.isDeep, FileWatch.Exclusion(names: scene.excluded))
        try withLoop { loop in
            let directory = TemporaryDirectory()
            let told = Box<Set<[UInt8]>>([])
            let overflows = Box(0)
            let storm = Storm(directory.path, seed: UInt64(round), isDeep: isDeep)
            storm.begin()
            let watch = try FileWatch([directory.path], recursive: true, excluding: exclusion) { _, events in
                for event in events {
                    switch event {
                    case .created(let file): told.value.insert(file.pathBytes)
                    case .unwatched(let path, _): Issue.record("not watched: \(path)")
                    case .overflowed: overflows.value += 1
                    default: break
                    }
                }
            }
            add(watch, to: loop)
            // Every other burst is read while it goes on.
            for burst in 0..<6 {
                let movers = (0..<3).map { number in storm.mover(number, burst) }
                while burst % 2 == 0, storm.isMoving { loop.runTurn() }
                for mover in movers { mover.join() }
                loop.runTurn()
            }
            func drain() { while loop.runTurn(returnsAfterSource: true) == .handledSource {} }
            drain()
            told.value = []
            let directories = names(below: Array(directory.path.utf8)).filter { name in
                let parts = name.split(separator: UInt8(ascii: "/"))
                return name.last == UInt8(ascii: "/") && !parts.contains { exclusion.contains(Array($0)) }
            }
            let files = directories.map { Array("\(directory.path)/".utf8) + $0 + Array("file".utf8) }
            for file in files { mknod(cText(file), S_IFREG | 0o600, 0) }
            drain()
            let silent = files.filter { !told.value.contains($0) }.map { FileNames.text($0[...]) }.sorted()
            #expect(silent == [], "\(overflows.value) overflows")
            #expect(watch.watchCount == directories.count + 1)
            // A burst that is not read is longer than the usual queue; a system may have a longer one.
            #expect(overflows.value > 0 || Self.queueLength > 16384)
            watch.invalidate()
        }
    }

    @Test func `A directory that the look after an overflow misses is watched by the check that follows`() throws {
        let directory = TemporaryDirectory()
        for name in ["a", "a/b", "a/b/c", "refused"] { directory.makeDirectory(name) }
        let user = try WatchUser.alone()
        let system = HidingSystem(user, refusing: directory.path("refused"))
        var tree = WatchTree(system, isRecursive: true, changes: .standard)
        try tree.insert(directory.path)
        _ = tree.takeEvents()
        #expect(tree.watchCount == 4)
        system.hidden = SystemText("b")
        tree.apply([InotifyRecord(watch: -1, mask: UInt32(IN_Q_OVERFLOW))])
        while system.bytesWaiting > 0 { tree.apply(user.readMoves()) }
        #expect(system.hidden == nil)
        #expect(tree.watchCount == 4)
        let events = tree.takeEvents()
        #expect(events.count { $0 == .overflowed } == 1)
        let refusals = events.filter { if case .unwatched(directory.path("refused"), _) = $0 { true } else { false } }
        #expect(refusals.count == 1)
    }

    @Test func `A record that moves a directory into a directory below it ends in a look at both`() throws {
        let directory = TemporaryDirectory()
        for name in ["a", "b"] { directory.makeDirectory(name) }
        let user = try WatchUser.alone()
        let system = MovingSystem(user)
        var tree = WatchTree(system, isRecursive: true, changes: .standard)
        try tree.insert(directory.path)
        // Before the look after the overflow, which therefore finds b in a; the records come afterwards.
        system.move = {
            directory.move("a", to: "b/a")
            directory.move("b/a", to: "a")
            directory.move("b", to: "a/b")
        }
        tree.apply([InotifyRecord(watch: -1, mask: UInt32(IN_Q_OVERFLOW))])
        #expect(system.move == nil && system.bytesWaiting > 0)
        _ = tree.takeEvents()
        let replayed = ReplayedTree(directory.path)
        replayed.readAnew(excluding: [])
        while system.bytesWaiting > 0 {
            tree.apply(user.readMoves())
            replayed.apply(tree.takeEvents())
        }
        #expect(tree.watchCount == 3)
        #expect(replayed.names == [Array("a/".utf8), Array("a/b/".utf8)])
        directory.makeDirectory("a/b/c")
        tree.apply(user.readMoves())
        let new = FileWatch.File(path: directory.path("a/b/c"), isDirectory: true)
        #expect(tree.takeEvents() == [.created(new)])
    }
}

/// A system in which a program moves directories before the next watch is added.
private final class MovingSystem: WatchSystem {
    var move: (() -> Void)?

    override func add(_ path: SystemText, _ mask: UInt32) -> CInt {
        if let move {
            self.move = nil
            move()
        }
        return super.add(path, mask)
    }
}

/// A system that does not show one directory to the first look after a moment.
private final class HidingSystem: WatchSystem {
    var hidden: SystemText?
    private let refused: SystemText?

    init(_ user: WatchUser, refusing path: String) {
        refused = SystemText(path)
        super.init(user)
    }

    override func add(_ path: SystemText, _ mask: UInt32) -> CInt { path == refused ? -EACCES : super.add(path, mask) }

    override func entries(of path: SystemText) -> ([Entry], error: CInt) {
        var (entries, error) = super.entries(of: path)
        if let hidden, entries.contains(where: { $0.name == hidden }) {
            entries.removeAll { $0.name == hidden }
            self.hidden = nil
        }
        return (entries, error)
    }
}

/// Exchanges, renames and makes directories.
private final class Storm: Sendable {
    private let path: String
    private let seed: UInt64
    private let isDeep: Bool
    private let moving = Locked(0)

    init(_ path: String, seed: UInt64, isDeep: Bool) { (self.path, self.seed, self.isDeep) = (path, seed, isDeep) }

    /// In one directory; or the first six there, and the others in these.
    private func place(_ number: Int) -> String {
        isDeep && number < 25 ? "\(path)/\(number % 6 + 25)/\(number)" : "\(path)/\(number)"
    }

    /// Makes the directories that are moved.
    func begin() { for number in (0..<31).reversed() { mkdir(place(number), 0o700) } }

    var isMoving: Bool { moving.copy > 0 }

    /// How many changes a thread tries at a time: three threads make 40,000 records of them, more than the kernel's queue has room for.
    private static let changes = 6000

    /// A thread that makes some thousand changes.
    func mover(_ number: Int, _ burst: Int) -> TestThread {
        moving.withLock { $0 += 1 }
        return TestThread { [self] in
            var random = SeededRandom(seed &* 1000 &+ UInt64(burst * 10 + number))
            for change in 0..<Self.changes {
                // The six are exchanged among each other alone: the tree does not grow deeper.
                let group = isDeep && random.oneIn(8) ? 25..<31 : isDeep ? 0..<25 : 0..<31
                let one = Int.random(in: group, using: &random)
                switch group.lowerBound > 0 ? 0 : Int.random(in: 0..<8, using: &random) {
                case 0..<4: _ = exchangeFiles(place(one), place(Int.random(in: group, using: &random)))
                case 4..<7:
                    // To a free name, and back to the name of another, which fails unless that is empty or away.
                    let free = "\(path)/free\(number)"
                    _ = rename(place(one), free)
                    if rename(free, place(Int.random(in: group, using: &random))) != 0 { _ = rename(free, place(one)) }
                default:
                    // The renames have replaced it if it was empty.
                    mkdir(place(one), 0o700)
                    mkdir("\(place(one))/\(number).\(change % 4)", 0o700)
                }
            }
            moving.withLock { $0 -= 1 }
        }
    }
}
