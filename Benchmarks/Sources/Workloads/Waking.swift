// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

public import BenchKit

/// W1: two loops wake each other in turn.
@inlinable
public func w1<P: Peer>(_: P.Type) {
    let place = String(cString: bk_text("place", "free"))
    let isApart = place == "each" || place == "spin"
    if isApart, bk_cpu_count() < 2 { bk_skip("needs two CPUs") }
    // Threads inherit it, even threads that the peer starts by itself.
    if place == "one" { bk_pin_thread(0) }
    if place == "spin" { bk_start_spinners() }
    let done = Gate()
    let match = PingPong<P>(first: P(cpu: isApart ? 0 : nil), second: P(cpu: isApart ? 1 : nil), done)
    match.begin()
    done.wait()
    bk_medians()
}

@usableFromInline
final class PingPong<P: Peer>: @unchecked Sendable {
    @usableFromInline let first: P
    @usableFromInline let second: P
    @usableFromInline let done: Gate
    @usableFromInline let rounds = bk_number("count", 20_000)
    // Written before the first wake-up, then only read.
    @exclusivity(unchecked) @usableFromInline var wakeFirst: P.Wake?
    @exclusivity(unchecked) @usableFromInline var wakeSecond: P.Wake?
    // The first loop's.
    @exclusivity(unchecked) @usableFromInline var left: Int64
    @exclusivity(unchecked) @usableFromInline var repetitions = bk_number("reps", 3)
    @exclusivity(unchecked) @usableFromInline var began: Int64 = 0

    @inlinable
    init(first: P, second: P, _ done: Gate) {
        self.first = first
        self.second = second
        self.done = done
        left = rounds / 10 + 1
    }

    @inlinable
    func begin() {
        let made = Gate()
        second.enter {
            self.wakeSecond = self.second.makeWake(Woken(match: self, isFirst: false))
            made.open()
        }
        made.wait()
        first.enter {
            self.wakeFirst = self.first.makeWake(Woken(match: self, isFirst: true))
            made.open()
        }
        made.wait()
        first.send(wakeFirst!)
    }

    @usableFromInline
    struct Woken: Callback {
        @usableFromInline let match: PingPong
        @usableFromInline let isFirst: Bool

        @inlinable
        init(match: PingPong, isFirst: Bool) {
            self.match = match
            self.isFirst = isFirst
        }

        @inlinable
        func callAsFunction() {
            if !isFirst {
                match.first.send(match.wakeFirst.unsafelyUnwrapped)
            } else if match.counts() {
                match.second.send(match.wakeSecond.unsafelyUnwrapped)
            }
        }
    }

    /// Whether there is another round.
    @inlinable
    func counts() -> Bool {
        left -= 1
        if left > 0 { return true }
        let now = bk_now()
        // The first stretch is the warm-up.
        if began != 0 { bk_repeat("ns", Double(now - began) / Double(rounds)) }
        if repetitions == 0 {
            done.open()
            return false
        }
        repetitions -= 1
        began = now
        left = rounds
        return true
    }
}

/// W2: one thread posts to a sleeping loop.
@inlinable
public func w2<P: Peer>(_: P.Type) {
    let loop = P(cpu: nil)
    let done = Gate()
    let count = bk_number("count", 1_000_000)
    w2Once(loop, count / 10, done)
    var repetition: Int64 = 0
    while bk_again(repetition) {
        bk_repeat("ns", Double(w2Once(loop, count, done)) / Double(count))
        repetition += 1
    }
    bk_medians()
}

@inlinable
@discardableResult
func w2Once<P: Peer>(_ loop: P, _ count: Int64, _ done: Gate) -> Int64 {
    // The loop should be asleep when the first callback comes.
    bk_sleep(5_000_000)
    let run = Tally(until: count, done)
    let began = bk_now()
    for _ in 0..<count { loop.post(run) }
    done.wait()
    let time = bk_now() - began
    run.end()
    return time
}

/// Counts calls in plain memory, as the peers in C do: two threads that count references of one object would pass its
/// cache line to and fro, and that is not what is measured.
@usableFromInline
struct Tally: Callback, @unchecked Sendable {
    @usableFromInline let left: UnsafeMutablePointer<Int64>
    @usableFromInline let done: Unmanaged<Gate>

    @inlinable
    init(until count: Int64, _ done: Gate) {
        left = .allocate(capacity: 1)
        left.initialize(to: count)
        self.done = .passUnretained(done)
    }

    @inlinable
    func callAsFunction() {
        left.pointee -= 1
        if left.pointee == 0 { done._withUnsafeGuaranteedRef { $0.open() } }
    }

    @inlinable
    func end() { left.deallocate() }
}

/// W2b: the loop posts to itself in batches, the last of which posts the next.
///
/// With `object=1` a callback is one object, which a closure of Swift holds without an allocation.
@inlinable
public func w2b<P: Peer>(_: P.Type) {
    let loop = P(cpu: nil)
    let done = Gate()
    let posting = SelfPosting(loop, done)
    loop.enter { posting.post() }
    done.wait()
    withExtendedLifetime(posting) {}
    bk_medians()
}

@usableFromInline
final class SelfPosting<P: Peer>: @unchecked Sendable {
    @usableFromInline let loop: P
    @exclusivity(unchecked) @usableFromInline var rounds: Rounds
    /// The object of the last callback of a batch, where callbacks are objects.
    @exclusivity(unchecked) @usableFromInline var last: Last?

    @inlinable
    init(_ loop: P, _ done: Gate) {
        self.loop = loop
        rounds = Rounds(of: bk_number("count", 1_000_000), done)
        if bk_number("object", 0) != 0 { last = Last(self) }
    }

    @inlinable
    func post() {
        if let last {
            for _ in 1..<1000 { loop.postHere(isLast: false, PostedObject(posting: self)) }
            return loop.postHere(isLast: true, PostedLast(last: last))
        }
        for _ in 1..<1000 { loop.postHere(isLast: false, Posted(self, isLast: false)) }
        loop.postHere(isLast: true, Posted(self, isLast: true))
    }

    @inlinable
    func lastHasRun() { if rounds.goesOn() { post() } }

    @usableFromInline
    final class Last: @unchecked Sendable {
        // SAFETY: the workload holds it until the last one has run.
        @usableFromInline let posting: Unmanaged<SelfPosting>
        @inlinable
        init(_ posting: SelfPosting) { self.posting = .passUnretained(posting) }
    }

    @usableFromInline
    struct PostedObject: Callback, @unchecked Sendable {
        @usableFromInline let posting: SelfPosting
        @inlinable
        init(posting: SelfPosting) { self.posting = posting }
        @inlinable
        func callAsFunction() { posting.rounds.left -= 1 }
    }

    @usableFromInline
    struct PostedLast: Callback, @unchecked Sendable {
        @usableFromInline let last: Last
        @inlinable
        init(last: Last) { self.last = last }
        @inlinable
        func callAsFunction() { last.posting._withUnsafeGuaranteedRef { $0.lastHasRun() } }
    }

    /// Two words, as the function and the argument of a peer in C, and like them without a reference that is counted.
    @usableFromInline
    struct Posted: Callback, @unchecked Sendable {
        @usableFromInline let posting: Unmanaged<SelfPosting>
        @usableFromInline let isLast: Bool

        @inlinable
        init(_ posting: SelfPosting, isLast: Bool) {
            // SAFETY: the workload holds it until the last one has run.
            self.posting = .passUnretained(posting)
            self.isLast = isLast
        }

        @inlinable
        func callAsFunction() {
            posting._withUnsafeGuaranteedRef { posting in
                if isLast { posting.lastHasRun() } else { posting.rounds.left -= 1 }
            }
        }
    }
}

/// W3: a callback asks to be called again next turn.
///
/// With `watched=1` the loop has an idle descriptor as well, so that it has to look at the kernel each turn.
@inlinable
public func w3<P: Peer>(_: P.Type) {
    let loop = P(cpu: nil)
    let done = Gate()
    let turning = Turning(loop, done)
    loop.enter { turning.begin() }
    done.wait()
    bk_medians()
}

@usableFromInline
final class Turning<P: Peer>: @unchecked Sendable {
    @usableFromInline let loop: P
    @exclusivity(unchecked) @usableFromInline var again: P.Again?
    @exclusivity(unchecked) @usableFromInline var idle: P.Watch?
    @exclusivity(unchecked) @usableFromInline var rounds: Rounds

    @inlinable
    init(_ loop: P, _ done: Gate) {
        self.loop = loop
        rounds = Rounds(of: bk_number("count", 1_000_000), done)
    }

    @inlinable
    func begin() {
        if bk_number("watched", 0) != 0 { idle = loop.watch(makePipes(1)[0].read, NeverCalled(number: 1, of: loop)) }
        again = loop.makeAgain(Turned(turning: self))
        loop.ask(again!)
    }

    @usableFromInline
    struct Turned: Callback {
        @usableFromInline let turning: Turning

        @inlinable
        init(turning: Turning) { self.turning = turning }

        @inlinable
        func callAsFunction() { turning.turned() }
    }

    @inlinable
    func turned() {
        if rounds.goesOn() { loop.ask(again.unsafelyUnwrapped) }
    }
}
