// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

import RunLoopsTestSupport
import RunLoopsTesting
import Testing

@testable import RunLoops

/// Blocks of one thread and of many: nothing lost, nothing twice, each poster's in order.
@Suite(.ownThread) struct BlockQueueTests {
    @Test func `Blocks run once each in the order in which they were posted`() {
        ManualRunLoop.with { manual in
            let ran = Box<[Int]>([])
            for number in 0..<100 { manual.loop.performLocally { ran.value.append(number) } }
            manual.loop.runTurn()
            #expect(ran.value == Array(0..<100))
            manual.loop.runTurn()
            #expect(ran.value.count == 100)
        }
    }

    @Test func `A block that waits for its mode still runs before blocks that were posted later`() {
        ManualRunLoop.with { manual in
            let ran = Box<[String]>([])
            manual.loop.markCommon("other")
            func post(_ name: String, _ modes: [RunLoop.Mode]) {
                manual.loop.performLocally(in: modes) { ran.value.append(name) }
            }
            post("a", ["other"])
            post("b", [.default])
            post("c", ["other", .default])
            post("d", ["other"])
            manual.loop.runTurn(in: .default)
            post("e", [.common])
            post("f", ["other"])
            manual.loop.addSource(in: "other")
            manual.loop.runTurn(in: "other")
            #expect(ran.value == ["b", "c", "a", "d", "e", "f"])
        }
    }

    @Test func `Posting a closure for an empty list of modes traps`() async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            ManualRunLoop.with { $0.loop.perform(in: []) {} }
        }
        expectText(result, "A list of modes is empty")
    }

    @Test func `A block is released when it has run`() {
        ManualRunLoop.with { manual in
            weak var seen: Token?
            do {
                let token = Token()
                seen = token
                manual.loop.perform { withExtendedLifetime(token) {} }
            }
            #expect(seen != nil)
            manual.loop.runTurn()
            #expect(seen == nil)
        }
    }

    /// The queue and a list that does the same the plain way, side by side.
    private final class Pair {
        private struct Entry {
            let number: Int
            let modes: [RunLoop.Mode]
        }

        private let queue = BlockQueue()
        private var model: [Entry] = []
        private var random: SeededRandom
        private var lastNumber = 0
        private var expected: [Int] = []
        private var commonModes: Set<RunLoop.Mode> = [.default]
        private(set) var ran: [Int] = []
        private let modes: [RunLoop.Mode] = [.default, .tracking, "a", "b"]

        init(seed: UInt64) { random = SeededRandom(seed) }

        func push() {
            lastNumber += 1
            let number = lastNumber
            var wanted = [(modes + [.common]).randomElement(using: &random) ?? .default]
            if random.oneIn(3) { wanted.append(modes.randomElement(using: &random) ?? .default) }
            model.append(Entry(number: number, modes: wanted))
            let block = Block(modes: BlockModes(wanted), wakes: true, location: CodeLocation("model", 1)) {
                [unowned self] in
                ran.append(number)
            }
            // As another thread would, or as the loop's own does.
            if random.oneIn(2) { queue.push(block) } else { queue.pushHere(block) }
        }

        func markCommon() { if let mode = modes.randomElement(using: &random) { commonModes.insert(mode) } }

        private func mayRun(_ entry: Entry, _ mode: RunLoop.Mode) -> Bool {
            entry.modes.contains { $0 == mode || ($0 == .common && commonModes.contains(mode)) }
        }

        /// Drains in a random mode; some of the blocks post others, mark modes, and drain again.
        func drain(depth: Int = 0) {
            guard let mode = modes.randomElement(using: &random) else { return }
            expectTrue(
                queue.hasBlock(in: mode, isCommon: commonModes.contains(mode)) == model.contains { mayRun($0, mode) },
                "whether a block waits")
            var batch = model
            model = []
            var kept: [Entry] = []
            func run(_ block: borrowing Block) {
                // The model goes on to the block that is to run now.
                while let entry = batch.first {
                    batch.removeFirst()
                    if mayRun(entry, mode) {
                        expected.append(entry.number)
                        break
                    }
                    kept.append(entry)
                }
                block.body()
                expectTrue(ran.last == expected.last, "ran \(ran.last ?? 0) and not \(expected.last ?? 0)")
                if random.oneIn(3) { push() }
                if random.oneIn(20) { markCommon() }
                if depth < 3, random.oneIn(6) { drain(depth: depth + 1) }
            }
            queue.drain(in: mode, isCommon: { commonModes.contains(mode) }, run: run)
            expectTrue(!batch.contains { mayRun($0, mode) }, "a block that may run did not")
            model = kept + batch + model
            expectTrue(queue.isEmpty == model.isEmpty, "emptiness")
        }

        func step() {
            switch Int.random(in: 0..<10, using: &random) {
            case 0..<6: push()
            case 6: if random.oneIn(10) { markCommon() }
            default: drain()
            }
        }

        func finish() {
            for mode in modes { commonModes.insert(mode) }
            for _ in 0..<200 where !model.isEmpty { drain() }
            #expect(model.isEmpty)
            #expect(ran == expected)
        }
    }

    @Test(arguments: 41...48) func `Random blocks, drains and nested drains match a model list`(seed: UInt64) {
        let pair = Pair(seed: seed)
        for _ in 0..<3000 { pair.step() }
        pair.finish()
        #expect(pair.ran.count > 1000)
        #expect(Set(pair.ran).count == pair.ran.count)
    }

    @Test func `Blocks of many threads run once each in each thread's order`() {
        let posters = 3
        let each = 5_000
        let ran = withRealLoop { loop -> [[Int]] in
            let ran = Box([[Int]](repeating: [], count: posters))
            let left = Box(posters * each)
            let shared = Locked<[(Int, Int)]>([])
            loop.addSource()
            let threads = (0..<posters).map { poster in
                TestThread {
                    for number in 0..<each {
                        loop.perform(wake: number % 7 == 0 || number == each - 1) {
                            shared.withLock { $0.append((poster, number)) }
                        }
                    }
                }
            }
            while left.value > 0 {
                _ = loop.run(in: .default, for: .milliseconds(50))
                let batch = shared.withLock { batch in
                    defer { batch = [] }
                    return batch
                }
                for (poster, number) in batch { ran.value[poster].append(number) }
                left.value -= batch.count
            }
            for thread in threads { thread.join() }
            return ran.value
        }
        for numbers in ran { #expect(numbers == Array(0..<each)) }
    }

    @Test func `A closed queue releases its blocks and blocks that are posted later`() {
        let waiting = Witness()
        let late = Witness()
        let ran = Locked(0)
        let ended = TestThread.run { () -> RunLoop in
            let loop = RunLoop.current
            let token = waiting.makeToken()
            loop.perform {
                withExtendedLifetime(token) {}
                ran.increment()
            }
            return loop
        }
        #expect(waiting.isGone)
        do {
            let token = late.makeToken()
            ended.perform {
                withExtendedLifetime(token) {}
                ran.increment()
            }
        }
        #expect(late.isGone)
        #expect(ran.count == 0)
    }
}

extension RunLoop {
    /// Adds something that keeps the mode from being empty and does nothing.
    @discardableResult
    func addSource(in mode: Mode = .default) -> Source {
        let source = Source.sendable(label: "keeper") { _ in }
        add(source, in: mode)
        return source
    }
}
