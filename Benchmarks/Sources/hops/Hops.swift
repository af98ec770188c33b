// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

// Measures the cost of going from one executor to another and back: 1,000,000 hops between two loops, within one, and between
// one and Swift's pool of threads; beside serial queues of libdispatch, SwiftNIO's loops and the main actor. That one
// is measured as Swift has it, kept on the main thread by the main loop, and on the main loop's own executor: a process
// has one main actor, so the latter two are measured in processes of their own, which this one starts in each pass and
// waits for. Last, questions that a task asks another thread: the question is one hop, the answer another.
//
//   swift run -c release --package-path Benchmarks hops [HOPS]

import Dispatch
import Glibc
import NIOCore
import NIOPosix
import RunLoops
import RunLoopsConcurrency
import Synchronization
import Workloads

/// An actor on any executor.
actor Place {
    private nonisolated let executor: any SerialExecutor
    nonisolated let unownedExecutor: UnownedSerialExecutor
    private var visits = 0

    init(_ executor: any SerialExecutor) {
        self.executor = executor
        unownedExecutor = executor.asUnownedSerialExecutor()
    }

    // Not inlined, or the compiler finds that going there can be left out.
    @inline(never) func visit() { visits &+= 1 }
}

let workDone = Atomic<Int>(0)

/// Something to do at each place, or the compiler finds that coming back can be left out.
@inline(never) func work() { workDone.add(1, ordering: .relaxed) }

/// Goes from an actor to a place and comes back: two hops.
func visit(from here: isolated any Actor, _ other: Place, times: Int) async {
    for _ in 0..<times {
        work()
        await other.visit()
    }
}

/// Goes from an actor to Swift's pool and comes back: two hops.
func visitPool(from here: isolated any Actor, times: Int) async {
    for _ in 0..<times {
        work()
        await inPool()
    }
}

@inline(never) @concurrent func inPool() async { work() }

/// Lets other jobs of the actor go first, and goes on: one job from the executor to itself.
///
/// Swift puts the job on the executor that the task prefers, and on its pool, from where it has to come back, if there
/// is none.
func yields(on actor: isolated any Actor, times: Int) async {
    for _ in 0..<times {
        work()
        await Task.yield()
    }
}

/// What a thread has made.
final class Made: Sendable {
    let loop = Mutex<RunLoop?>(nil)
}

/// A serial queue of libdispatch as an executor, which Linux does not provide.
final class QueueExecutor: SerialExecutor, TaskExecutor {
    private let queue: DispatchQueue

    init(_ label: String) { queue = DispatchQueue(label: label) }

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        queue.async { [self] in job.runSynchronously(on: asUnownedSerialExecutor()) }
    }
}

/// Two of a kind of executor.
struct Pair {
    let name: String
    let first: any SerialExecutor
    let second: any SerialExecutor
}

@main struct Hops {
    static func main() {
        let arguments = CommandLine.arguments.dropFirst()
        let hops = arguments.first.flatMap { Int($0) } ?? 1_000_000
        switch arguments.last {
        case MainActorKind.adopted.rawValue: RunLoop.runMain { await measureMainAlone(hops) }
        case MainActorKind.onLoop.rawValue: RunLoop.runMain(mainExecutor: .runLoop) { await measureMainAlone(hops) }
        default:
            // As an async main does.
            Task { @MainActor in
                await compare(hops)
                exit(0)
            }
            dispatchMain()
        }
    }

    @MainActor static func compare(_ hops: Int) async {
        let (loops, queues, nios) = (loopPair(), queuePair(), nioPair())
        guard let questions = try? Questions() else { fatalError("The system has refused a port.") }
        // In passes, each of all kinds, so that what else the machine does falls on all of them; the first is not
        // counted.
        let passes = 10
        var rows: [Row] = []
        for pass in 0...passes {
            var figures: [Row] = []
            for pair in [loops, queues, nios] { figures += await measure(pair, hops / passes) }
            figures += await questions.measure(hops / passes)
            figures += await measureMain(.dispatch, queues, loops, hops / passes)
            figures += MainActorKind.adopted.measure(hops / passes) + MainActorKind.onLoop.measure(hops / passes)
            if pass > 0 { rows += figures }
        }
        print("\(hops) hops each, in \(passes) passes; ns a hop, and as a multiple of the run loop's")
        print(table(rows))
    }

    /// One pass of the main actor's rows, in a process that has it so.
    static func measureMainAlone(_ hops: Int) async {
        let kind = CommandLine.arguments.last.flatMap(MainActorKind.init) ?? .dispatch
        let (queues, loops) = (queuePair(), loopPair())
        // The first is not counted.
        _ = await measureMain(kind, queues, loops, hops / 10)
        for row in await measureMain(kind, queues, loops, hops) { print(row.line) }
    }

    static func loopPair() -> Pair {
        Pair(name: "run loop", first: startLoop().executor, second: startLoop().executor)
    }

    static func queuePair() -> Pair {
        Pair(name: "Dispatch queue", first: QueueExecutor("1"), second: QueueExecutor("2"))
    }

    static func nioPair() -> Pair {
        let group = MultiThreadedEventLoopGroup(numberOfThreads: 2)
        return Pair(name: "NIO event loop", first: group.next().executor, second: group.next().executor)
    }

    /// The loop of a thread of its own.
    static func startLoop() -> RunLoop {
        let gate = Gate()
        let made = Made()
        startThread {
            let loop = RunLoop.current
            // The executor keeps the mode from being empty.
            _ = loop.executor
            made.loop.withLock { $0 = loop }
            gate.open()
            loop.run()
        }
        gate.wait()
        return made.loop.withLock { $0 }.unsafelyUnwrapped
    }

    static func measure(_ pair: Pair, _ hops: Int) async -> [Row] {
        let (first, second, sibling) = (Place(pair.first), Place(pair.second), Place(pair.first))
        return [
            Row(.itself, pair.name, await time(hops, on: pair.first) { await yields(on: first, times: hops) }),
            Row(.same, pair.name, await time(hops) { await visit(from: first, sibling, times: hops / 2) }),
            Row(.other, pair.name, await time(hops) { await visit(from: first, second, times: hops / 2) }),
            Row(.pool, pair.name, await time(hops) { await visitPool(from: first, times: hops / 2) }),
        ]
    }

    /// Of the main actor, of the kind that this process has.
    static func measureMain(_ kind: MainActorKind, _ queues: Pair, _ loops: Pair, _ hops: Int) async -> [Row] {
        let (main, place, bound) = (MainActor.shared, Place(queues.first), Place(loops.first))
        let name = kind.rawValue
        // The one kind that a task can prefer, and that another actor can be on.
        let executor = kind == .onLoop ? RunLoop.main.executor : nil
        var same: [Row] = []
        if let executor {
            let sibling = Place(executor)
            same = [Row(.same, name, await time(hops) { await visit(from: main, sibling, times: hops / 2) })]
        }
        return same + [
            Row(.itself, name, await time(hops, on: executor) { await yields(on: main, times: hops) }),
            Row(.other, name + ", queue", await time(hops) { await visit(from: main, place, times: hops / 2) }),
            Row(.other, name + ", loop", await time(hops) { await visit(from: main, bound, times: hops / 2) }),
            Row(.pool, name, await time(hops) { await visitPool(from: main, times: hops / 2) }),
        ]
    }

    /// Nanoseconds a hop, of a task that prefers an executor, if that can be preferred.
    static func time(
        _ hops: Int, on executor: (any SerialExecutor)? = nil, _ body: @escaping @Sendable () async -> Void
    ) async -> Double {
        let clock = ContinuousClock()
        let took = await clock.measure {
            await Task(executorPreference: executor as? any TaskExecutor, operation: body).value
        }
        return Double(took / .nanoseconds(1)) / Double(hops)
    }
}
