// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

public import BenchKit

/// W4: adds timers that are far away, exchanges random ones, cancels all in random order.
@inlinable
public func w4<P: Peer>(_: P.Type) {
    let loop = P(cpu: nil)
    let done = Gate()
    let count = Int(bk_number("k", 1000))
    let churns = Int(bk_number("churn", 10_000))
    loop.enter {
        var isWarm = false
        var repetition: Int64 = 0
        while bk_again(repetition) {
            let times = w4Once(loop, count, churns)
            // A warm-up that took seconds is the figure: it need not cost that twice.
            let isSlow = times.add + times.churn + times.cancel > bk_number("slow", 2_000_000_000)
            if isWarm || isSlow {
                bk_repeat("add_ns", Double(times.add) / Double(count))
                bk_repeat("churn_ns", Double(times.churn) / Double(churns))
                bk_repeat("cancel_ns", Double(times.cancel) / Double(count))
                repetition += 1
            }
            if isSlow { break }
            isWarm = true
        }
        done.open()
    }
    done.wait()
    bk_medians()
}

@inlinable
func w4Once<P: Peer>(_ loop: P, _ count: Int, _ churns: Int) -> (add: Int64, churn: Int64, cancel: Int64) {
    var random = bk_random_seeded()
    var timers: [P.Timer] = []
    timers.reserveCapacity(count)
    let began = bk_now()
    for place in 0..<count { timers.append(loop.timer(in: farAway(&random), NeverCalled(number: place, of: loop))) }
    let added = bk_now()
    for _ in 0..<churns {
        let place = Int(bk_random_below(&random, UInt64(count)))
        loop.cancel(timers[place])
        timers[place] = loop.timer(in: farAway(&random), NeverCalled(number: place, of: loop))
    }
    let churned = bk_now()
    let order = bk_shuffled(&random, Int64(count))!
    let ordered = bk_now()
    for place in 0..<count { loop.cancel(timers[Int(order[place])]) }
    let cancelled = bk_now()
    order.deallocate()
    return (added - began, churned - added, cancelled - ordered)
}

/// W4 re-arm: gives random timers, of many that are far away, another date that is far away.
@inlinable
public func w4Restart<P: Peer>(_: P.Type) {
    let loop = P(cpu: nil)
    exchange(on: loop, metric: "restart_ns") { random, place in
        loop.timer(in: farAway(&random), NeverCalled(number: place, of: loop))
    } exchange: { timer, random, _ in
        loop.restart(timer, in: farAway(&random))
    } cancel: {
        loop.cancel($0)
    }
}

/// W4 as users write it: cancels random ones of many timers and adds others, by the peer's lightest way.
@inlinable
public func w4AsWritten<P: Peer>(_: P.Type) {
    let loop = P(cpu: nil)
    exchange(on: loop, metric: "churn_ns") { random, place in
        loop.delay(farAway(&random), NeverCalled(number: place, of: loop))
    } exchange: { timer, random, place in
        loop.cancel(delayed: timer)
        timer = loop.delay(farAway(&random), NeverCalled(number: place, of: loop))
    } cancel: {
        loop.cancel(delayed: $0)
    }
}

/// Makes many timers, exchanges random ones, which is timed, and cancels all.
@inlinable @inline(__always)
func exchange<P: Peer, Handle>(
    on loop: P, metric: String, make: @escaping @Sendable (inout bk_random, Int) -> Handle,
    exchange: @escaping @Sendable (inout Handle, inout bk_random, Int) -> Void,
    cancel: @escaping @Sendable (Handle) -> Void
) {
    let done = Gate()
    let count = Int(bk_number("k", 10_000))
    let churns = Int(bk_number("churn", 10_000))
    loop.enter {
        var isWarm = false
        var repetition: Int64 = 0
        while bk_again(repetition) {
            var random = bk_random_seeded()
            var timers = (0..<count).map { make(&random, $0) }
            let began = bk_now()
            for _ in 0..<churns {
                let place = Int(bk_random_below(&random, UInt64(count)))
                exchange(&timers[place], &random, place)
            }
            let time = bk_now() - began
            // A warm-up that took a second is the figure: it need not cost that twice.
            let isSlow = time > bk_number("slow", 1_000_000_000)
            if isWarm || isSlow {
                bk_repeat(metric, Double(time) / Double(churns))
                repetition += 1
            }
            if isSlow { break }
            for timer in timers { cancel(timer) }
            isWarm = true
        }
        done.open()
    }
    done.wait()
    bk_medians()
}

/// A minute to an hour.
@inlinable
func farAway(_ random: inout bk_random) -> Int64 {
    bk_random_between(&random, 60 * 1_000_000_000, 3600 * 1_000_000_000)
}

/// W5: many timers due within 200 ms, and one 16 ms after the last, which pays for what was put off.
@inlinable
public func w5<P: Peer>(_: P.Type) {
    let loop = P(cpu: nil)
    let firing = Firing(loop)
    var repetition: Int64 = 0
    while bk_again(repetition) {
        loop.enter { firing.begin() }
        firing.done.wait()
        firing.report()
        repetition += 1
    }
    bk_medians()
}

@usableFromInline
final class Firing<P: Peer>: @unchecked Sendable {
    @usableFromInline let loop: P
    @usableFromInline let done = Gate()
    @usableFromInline let count = bk_number("k", 10_000)
    @usableFromInline let tolerance = bk_number("tolerance", 0)
    /// Whether the peer's lightest way is taken in place of timers.
    @usableFromInline let isLight = bk_number("light", 0) != 0
    @exclusivity(unchecked) @usableFromInline var late: bk_samples
    @exclusivity(unchecked) @usableFromInline var left: Int64 = 0
    @exclusivity(unchecked) @usableFromInline var cpu: Int64 = 0
    @exclusivity(unchecked) @usableFromInline var last: Int64 = 0
    @exclusivity(unchecked) @usableFromInline var lateAfter: Int64 = 0
    @exclusivity(unchecked) @usableFromInline var timers: [P.Timer] = []

    @inlinable
    init(_ loop: P) {
        self.loop = loop
        late = bk_samples_make(count)
    }

    @inlinable
    func begin() {
        var random = bk_random_seeded()
        bk_samples_clear(&late)
        left = count
        timers.removeAll(keepingCapacity: true)
        timers.reserveCapacity(Int(count))
        // Far enough for the slowest peer to have made them all, in any case without valgrind.
        let base = bk_now() + bk_number("lead", 10_000_000 + count * 10_000)
        let spread = bk_number("spread", 200_000_000)
        for _ in 0..<count {
            let due = base + bk_random_between(&random, 1_000_000, spread)
            last = max(last, due)
            if isLight {
                _ = loop.delay(due - bk_now(), Fired(firing: self, due: due))
            } else {
                timers.append(loop.timer(at: due, tolerance: tolerance, Fired(firing: self, due: due)))
            }
        }
        if bk_now() > base { bk_skip("takes longer to make the timers than they have until they are due") }
        finish(ifUntil: "made")
        cpu = bk_cpu()
    }

    @usableFromInline
    struct Fired: Callback {
        @usableFromInline let firing: Firing
        @usableFromInline let due: Int64

        @inlinable
        init(firing: Firing, due: Int64) {
            self.firing = firing
            self.due = due
        }

        @inlinable
        func callAsFunction() { firing.fired(due) }
    }

    @inlinable
    func fired(_ due: Int64) {
        let lateness = bk_now() - due
        left -= 1
        if left < 0 {
            lateAfter = lateness
            return done.open()
        }
        bk_sample(&late, lateness)
        if left > 0 { return }
        finish(ifUntil: "fired")
        cpu = bk_cpu() - cpu
        let after = last + 16_000_000
        timers.append(loop.timer(at: after, tolerance: tolerance, Fired(firing: self, due: after)))
    }

    /// Ends the process here, for a count of these instructions and no others.
    @inlinable
    func finish(ifUntil stage: String) {
        if String(cString: bk_text("until", "")) == stage { bk_finish() }
    }

    @inlinable
    func report() {
        bk_repeat("after_us", Double(lateAfter) / 1e3)
        bk_repeat("cpu_ns", Double(cpu) / Double(count))
        bk_repeat("late_min_us", bk_quantile(&late, 0) / 1e3)
        bk_repeat("late_p50_us", bk_quantile(&late, 0.5) / 1e3)
        bk_repeat("late_p99_us", bk_quantile(&late, 0.99) / 1e3)
        bk_repeat("late_max_us", bk_quantile(&late, 1) / 1e3)
    }
}

/// W6: one timer that repeats every millisecond.
@inlinable
public func w6<P: Peer>(_: P.Type) {
    let loop = P(cpu: nil)
    let repeating = Repeating(loop)
    let cpu = bk_cpu()
    loop.enter { repeating.begin() }
    repeating.done.wait()
    bk_report_repeat(&repeating.errors, repeating.start, repeating.last, repeating.fires, bk_cpu() - cpu)
}

@usableFromInline
final class Repeating<P: Peer>: @unchecked Sendable {
    @usableFromInline let loop: P
    @usableFromInline let done = Gate()
    @usableFromInline let length = bk_number("ms", 3000) * 1_000_000
    @exclusivity(unchecked) @usableFromInline var errors: bk_samples
    @exclusivity(unchecked) @usableFromInline var start: Int64 = 0
    @exclusivity(unchecked) @usableFromInline var last: Int64 = 0
    @exclusivity(unchecked) @usableFromInline var fires: Int64 = 0
    @exclusivity(unchecked) @usableFromInline var timer: P.Timer?

    @inlinable
    init(_ loop: P) {
        self.loop = loop
        errors = bk_samples_make(length / 1_000_000 * 2)
    }

    @inlinable
    func begin() {
        start = bk_now()
        timer = loop.timer(every: 1_000_000, Fired(repeating: self))
    }

    @usableFromInline
    struct Fired: Callback {
        @usableFromInline let repeating: Repeating

        @inlinable
        init(repeating: Repeating) { self.repeating = repeating }

        @inlinable
        func callAsFunction() { repeating.fired() }
    }

    @inlinable
    func fired() {
        let now = bk_now()
        fires += 1
        if last != 0 { bk_sample(&errors, abs(now - last - 1_000_000)) }
        last = now
        if now < start + length { return }
        loop.cancel(timer!)
        done.open()
    }
}

/// W6b: a chain of timers, each made by the one before.
@inlinable
public func w6b<P: Peer>(_: P.Type) {
    let loop = P(cpu: nil)
    let chain = Chain(loop)
    let cpu = bk_cpu()
    loop.enter { chain.next() }
    chain.done.wait()
    bk_result("cpu_ns", Double(bk_cpu() - cpu) / Double(chain.count))
    bk_report_late(&chain.late)
}

@usableFromInline
final class Chain<P: Peer>: @unchecked Sendable {
    @usableFromInline let loop: P
    @usableFromInline let done = Gate()
    @usableFromInline let count = bk_number("count", 1500)
    @exclusivity(unchecked) @usableFromInline var left: Int64
    @exclusivity(unchecked) @usableFromInline var random = bk_random_seeded()
    @exclusivity(unchecked) @usableFromInline var late: bk_samples
    @exclusivity(unchecked) @usableFromInline var timer: P.Timer?

    @inlinable
    init(_ loop: P) {
        self.loop = loop
        left = count
        late = bk_samples_make(count)
    }

    @inlinable
    func next() {
        let delay = bk_random_between(&random, 500_000, 2_000_000)
        let due = bk_now() + delay
        timer = loop.timer(in: delay, Fired(chain: self, due: due))
    }

    @usableFromInline
    struct Fired: Callback {
        @usableFromInline let chain: Chain
        @usableFromInline let due: Int64

        @inlinable
        init(chain: Chain, due: Int64) {
            self.chain = chain
            self.due = due
        }

        @inlinable
        func callAsFunction() { chain.fired(due) }
    }

    @inlinable
    func fired(_ due: Int64) {
        bk_sample(&late, bk_now() - due)
        left -= 1
        if left > 0 { next() } else { done.open() }
    }
}
