// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

import Glibc
import RunLoops
import RunLoopsTestSupport
import Testing

@testable import RunLoopsEvents

/// Names that a watch leaves out.
///
/// `FileWatchReplayTests` and `FileWatchStormTests` have random changes with such names.
@Suite(.ownThread, .leavesNothing) struct FileWatchExclusionTests {
    @Test func `A pattern matches the bytes of a whole name, with a star for any number of bytes`() {
        let exclusion: FileWatch.Exclusion = [".git", "*.o", "#*#", "a*b*c", "é"]
        for name in [".git", ".o", "x.o", "##", "#a#", "abc", "a-b-b-c", "abcbc", "é"] {
            #expect(exclusion.contains(Array(name.utf8)), "\(name)")
        }
        for name in ["", ".gitignore", "x.git", ".O", "o", "x.o.c", "#", "ab", "abcd", "e\u{301}"] {
            #expect(!exclusion.contains(Array(name.utf8)), "\(name)")
        }
        #expect((["*"] as FileWatch.Exclusion).contains([0xFF]) && (["*"] as FileWatch.Exclusion).contains([]))
        #expect(!FileWatch.Exclusion.none.contains(Array(".git".utf8)))
        let closure = FileWatch.Exclusion { $0.first == 0xE9 }
        #expect(closure.contains([0xE9]) && !closure.contains([0xC3, 0xA9]))
        // One byte more each time: a pattern of many stars is not exponential.
        let many = FileWatch.Exclusion(names: [String(repeating: "a*", count: 40) + "b"])
        #expect(!many.contains(Array(repeating: UInt8(ascii: "a"), count: 255)))
    }

    @Test func `Excluded directories and files are neither watched nor reported, whenever they are made`() throws {
        try withLoop { loop in
            let directory = TemporaryDirectory()
            for name in [".git", ".git/objects", ".git/objects/ab", "src", "src/.build", "src/.build/debug"] {
                directory.makeDirectory(name)
            }
            let told = Box<[FileWatch.Event]>([])
            let wakes = Box(0)
            let watch = try FileWatch(
                [directory.path], for: [.standard, .modified], recursive: true, excluding: [".git", ".build", "*.o"]
            ) { _, events in
                wakes.value += 1
                told.value += events
            }
            add(watch, to: loop)
            #expect(watch.watchCount == 2)
            // Nothing of this is reported, and the first three do not wake the loop.
            directory.write(".git/objects/ab/file", "text")
            directory.makeDirectory(".git/objects/cd")
            directory.write("src/.build/debug/main.o", "text")
            #expect(loop.run(in: .default, for: .milliseconds(1), returnsAfterSource: true) == .timedOut)
            directory.write("src/main.o", "text")
            directory.makeDirectory("src/sub.o")
            directory.remove(Array("src/main.o".utf8))
            _ = loop.runUntilIdle()
            #expect(told.value == [])
            directory.makeDirectory("src/lib")
            directory.makeDirectory("src/lib/.build")
            directory.makeDirectory("src/lib/.build/debug")
            directory.write("src/lib/.build/debug/file")
            _ = loop.runUntilIdle()
            #expect(
                told.value == [.created(FileWatch.File(Array(directory.path("src/lib").utf8), isDirectory: true))])
            #expect(watch.watchCount == 3)
            #expect(wakes.value == 1)
            watch.invalidate()
        }
    }

    @Test func `A directory that gets an excluded name is removed from the watch, and one that loses it is watched`()
        throws
    {
        try withLoop { loop in
            let directory = TemporaryDirectory()
            for name in ["build", "build/debug", "other"] { directory.makeDirectory(name) }
            directory.write("build/debug/file")
            let tree = ReplayedTree(directory.path)
            let watch = try FileWatch([directory.path], recursive: true, excluding: [".build"]) { _, events in
                tree.apply(events)
            }
            add(watch, to: loop)
            tree.readAnew(excluding: [Array(".build".utf8)])
            func expectAgreement(_ watches: Int) {
                while loop.runTurn(returnsAfterSource: true) == .handledSource {}
                let excluded = [Array(".build".utf8)]
                #expect(tree.names == names(below: Array(directory.path.utf8), excluding: excluded))
                #expect(tree.others == [] && watch.watchCount == watches)
            }
            expectAgreement(4)
            directory.move(Array("build".utf8), to: Array(".build".utf8))
            expectAgreement(2)
            directory.write(".build/debug/second")
            expectAgreement(2)
            directory.move(Array(".build".utf8), to: Array("other/build".utf8))
            expectAgreement(4)
            directory.write("other/build/debug/third")
            expectAgreement(4)
            directory.makeDirectory(".build")
            directory.makeDirectory(".build/one")
            directory.exchange(".build", "other")
            expectAgreement(3)
            directory.exchange(".build", "other")
            expectAgreement(4)
            // From one excluded name to another: nothing is reported.
            directory.move(Array(".build".utf8), to: Array("other/.build".utf8))
            expectAgreement(4)
            watch.invalidate()
        }
    }

    @Test func `A path of the watch is watched even if its name is excluded`() throws {
        try withLoop { loop in
            let directory = TemporaryDirectory()
            for name in [".build", ".build/sub", ".build/sub/.build"] { directory.makeDirectory(name) }
            let told = Box<[FileWatch.Event]>([])
            let watch = try FileWatch([directory.path(".build")], for: .created, recursive: true, excluding: [".build"])
            {
                _, events in told.value += events
            }
            add(watch, to: loop)
            #expect(watch.watchCount == 2)
            directory.write(".build/sub/file")
            _ = loop.runUntilIdle()
            #expect(told.value.count == 1)
            watch.invalidate()
        }
    }
}
