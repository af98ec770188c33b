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
            if isWarm {
                bk_repeat("add_ns", Double(times.add) / Double(count))
                bk_repeat("churn_ns", Double(times.churn) / Double(churns))
                bk_repeat("cancel_ns", Double(times.cancel) / Double(count))
                repetition += 1
            }
            // What one warm-up cost in seconds it need not cost twice.
            if times.add + times.churn + times.cancel > 2_000_000_000, !isWarm {
                bk_repeat("add_ns", Double(times.add) / Double(count))
                bk_repeat("churn_ns", Double(times.churn) / Double(churns))
                bk_repeat("cancel_ns", Double(times.cancel) / Double(count))
                break
            }
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
    for _ in 0..<count { timers.append(loop.timer(in: farAway(&random), w4Never)) }
    let added = bk_now()
    for _ in 0..<churns {
        let place = Int(bk_random_below(&random, UInt64(count)))
        loop.cancel(timers[place])
        timers[place] = loop.timer(in: farAway(&random), w4Never)
    }
    let churned = bk_now()
    let order = bk_shuffled(&random, Int64(count))!
    let ordered = bk_now()
    for place in 0..<count { loop.cancel(timers[Int(order[place])]) }
    let cancelled = bk_now()
    order.deallocate()
    return (added - began, churned - added, cancelled - ordered)
}

/// A minute to an hour.
@inlinable
func farAway(_ random: inout bk_random) -> Int64 {
    bk_random_between(&random, 60 * 1_000_000_000, 3600 * 1_000_000_000)
}

@usableFromInline
@Sendable
func w4Never() { bk_fail("a timer an hour away has fired") }

/// W5: many timers due within 200 ms.
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
    @exclusivity(unchecked) @usableFromInline var late: bk_samples
    @exclusivity(unchecked) @usableFromInline var left: Int64 = 0
    @exclusivity(unchecked) @usableFromInline var cpu: Int64 = 0
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
        // Far enough for the slowest peer to have made them all.
        let base = bk_now() + 10_000_000 + count * 10_000
        for _ in 0..<count {
            let due = base + bk_random_between(&random, 1_000_000, 200_000_000)
            timers.append(loop.timer(at: due, tolerance: tolerance) { self.fired(due) })
        }
        if bk_now() > base { bk_skip("takes longer to make the timers than they have until they are due") }
        cpu = bk_cpu()
    }

    @inlinable
    func fired(_ due: Int64) {
        bk_sample(&late, bk_now() - due)
        left -= 1
        if left > 0 { return }
        cpu = bk_cpu() - cpu
        done.open()
    }

    @inlinable
    func report() {
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
        timer = loop.timer(every: 1_000_000) { self.fired() }
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
        timer = loop.timer(in: delay) { self.fired(due) }
    }

    @inlinable
    func fired(_ due: Int64) {
        bk_sample(&late, bk_now() - due)
        left -= 1
        if left > 0 { next() } else { done.open() }
    }
}
