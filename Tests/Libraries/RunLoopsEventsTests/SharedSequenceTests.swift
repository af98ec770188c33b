// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

import Glibc
import RunLoops
import RunLoopsEvents
import RunLoopsKit
import RunLoopsTestSupport
import Testing

/// A sequence of lines that several iterators go through.
@Suite(.ownThread, .leavesNothing) struct SharedSequenceTests {
    @Test func `A second iterator continues with the lines that the first has read ahead`() async throws {
        let pipe = DescriptorPair.pipe()
        let thread = try RunLoopThread(name: "lines")
        let lines = try thread.loop.lines(of: RunLoop.File(borrowing: pipe.first))
        pipe.send("name: value\nother: value\n\nbody\nmore\n")
        pipe.closeSecond()
        var (header, body): ([String], [String]) = ([], [])
        for try await line in lines {
            if line.isEmpty { break }
            header.append(line)
        }
        for try await line in lines { body.append(line) }
        #expect(header == ["name: value", "other: value"])
        #expect(body == ["body", "more"])
        end(thread)
    }

    @Test func `A batch read after single lines has the remaining lines that were read ahead`() async throws {
        let pipe = DescriptorPair.pipe()
        let thread = try RunLoopThread(name: "lines")
        let lines = try thread.loop.lines(of: RunLoop.File(borrowing: pipe.first))
        pipe.send("a\nb\nc\n")
        pipe.closeSecond()
        var single = lines.makeAsyncIterator()
        var batches = lines.batches.makeAsyncIterator()
        #expect(try await single.next() == "a")
        #expect(try await batches.next() == ["b", "c"])
        #expect(try await batches.next() == nil)
        #expect(try await single.next() == nil)
        end(thread)
    }

    @Test func `Tasks that iterate one sequence at the same time share its lines and all end`() async throws {
        let pipe = DescriptorPair.pipe()
        let thread = try RunLoopThread(name: "lines")
        let lines = try thread.loop.lines(of: RunLoop.File(borrowing: pipe.first))
        let received = try await withThrowingTaskGroup(of: [String].self) { group in
            for index in 0..<4 {
                group.addTask {
                    var received: [String] = []
                    if index == 0 {
                        for try await batch in lines.batches { received += batch }
                    } else {
                        for try await line in lines { received.append(line) }
                    }
                    return received
                }
            }
            for round in 0..<50 {
                pipe.send("\(2 * round)\n\(2 * round + 1)\n")
                await Task.yield()
            }
            pipe.closeSecond()
            var all: [String] = []
            for try await part in group { all += part }
            return all
        }
        #expect(received.compactMap { Int($0) }.sorted() == Array(0..<100))
        end(thread)
    }

    @Test func `Cancelling one of several waiting tasks leaves the elements to the others`() async throws {
        let pipe = DescriptorPair.pipe()
        let thread = try RunLoopThread(name: "lines")
        let lines = try thread.loop.lines(of: RunLoop.File(borrowing: pipe.first))
        let tasks = (0..<3).map { _ in
            Task {
                var count = 0
                for try await _ in lines { count += 1 }
                return count
            }
        }
        tasks[1].cancel()
        #expect(try await tasks[1].value == 0)
        pipe.send("a\nb\nc\n")
        pipe.closeSecond()
        #expect(try await tasks[0].value + tasks[2].value == 3)
        end(thread)
    }
}
