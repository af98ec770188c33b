// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

public import BenchKit

/// W7: a callback reads its byte and writes one to a random pipe.
@inlinable
public func w7<P: Peer>(_: P.Type) {
    let pipes = Pipes(P(cpu: nil))
    pipes.loop.enter { pipes.beginRandom() }
    pipes.done.wait()
    bk_medians()
}

/// W7b: the chain of libevent's own benchmark.
@inlinable
public func w7b<P: Peer>(_: P.Type) {
    let pipes = Pipes(P(cpu: nil))
    pipes.loop.enter { pipes.beginChain() }
    pipes.done.wait()
    bk_medians()
}

@usableFromInline
final class Pipes<P: Peer>: @unchecked Sendable {
    @usableFromInline typealias Ends = (read: Int32, write: Int32)
    @usableFromInline let loop: P
    @usableFromInline let done = Gate()
    @usableFromInline let count = Int(bk_number("n", 100))
    @usableFromInline let ends: UnsafeMutablePointer<Ends>
    @exclusivity(unchecked) @usableFromInline var watches: [P.Watch] = []
    // The random one's.
    @exclusivity(unchecked) @usableFromInline var rounds: Rounds
    @exclusivity(unchecked) @usableFromInline var random = bk_random_seeded()
    // The chain's.
    @exclusivity(unchecked) @usableFromInline var total: Int64 = 0
    @exclusivity(unchecked) @usableFromInline var left: Int64 = 0
    @exclusivity(unchecked) @usableFromInline var began: Int64 = 0
    @exclusivity(unchecked) @usableFromInline var repetition: Int64 = 0
    @exclusivity(unchecked) @usableFromInline var active = Int(bk_number("active", 100))
    @exclusivity(unchecked) @usableFromInline var fired: Int64 = 0

    @inlinable
    init(_ loop: P) {
        self.loop = loop
        rounds = Rounds(of: bk_number("count", 200_000), done)
        ends = makePipes(count)
    }

    @inlinable
    func read(_ index: Int) {
        if !P.readsItself { bk_read_byte(ends[index].read) }
    }

    // MARK: Random

    @inlinable
    func beginRandom() {
        watches = (0..<count).map { loop.watch(ends[$0].read, Ready(pipes: self, index: $0)) }
        bk_write_byte(ends[0].write)
    }

    @usableFromInline
    struct Ready: Callback {
        @usableFromInline let pipes: Pipes
        @usableFromInline let index: Int

        @inlinable
        init(pipes: Pipes, index: Int) {
            self.pipes = pipes
            self.index = index
        }

        @inlinable
        func callAsFunction() { pipes.ready(index) }
    }

    @inlinable
    func ready(_ index: Int) {
        read(index)
        if rounds.goesOn() { bk_write_byte(ends[Int(bk_random_below(&random, UInt64(count)))].write) }
    }

    // MARK: Chain

    @inlinable
    func beginChain() {
        total = bk_number("count", 300_000)
        watches = (0..<count).map { loop.watch(ends[$0].read, PassesOn(pipes: self, index: $0)) }
        _ = bk_again(0)
        startChain()
    }

    @inlinable
    func startChain() {
        left = total
        fired = 0
        began = bk_now()
        for index in 0..<active { bk_write_byte(ends[index * (count / active)].write) }
    }

    @usableFromInline
    struct PassesOn: Callback {
        @usableFromInline let pipes: Pipes
        @usableFromInline let index: Int

        @inlinable
        init(pipes: Pipes, index: Int) {
            self.pipes = pipes
            self.index = index
        }

        @inlinable
        func callAsFunction() { pipes.passesOn(index) }
    }

    @inlinable
    func passesOn(_ index: Int) {
        read(index)
        fired += 1
        if left > 0 {
            left -= 1
            bk_write_byte(ends[index + 1 < count ? index + 1 : 0].write)
            return
        }
        if fired < total + Int64(active) { return }
        bk_repeat("ns", Double(bk_now() - began) / Double(fired))
        repetition += 1
        if bk_again(repetition) { startChain() } else { done.open() }
    }
}

/// `count` non-blocking pipes.
@usableFromInline
func makePipes(_ count: Int) -> UnsafeMutablePointer<(read: Int32, write: Int32)> {
    let ends = UnsafeMutablePointer<(read: Int32, write: Int32)>.allocate(capacity: count)
    // SAFETY: a pair of Int32 is laid out as an array of two.
    ends.withMemoryRebound(to: (Int32, Int32).self, capacity: count) { bk_make_pipes($0, Int64(count)) }
    return ends
}
