// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

public import BenchKit

/// W8: a loop with one timer an hour away.
@inlinable
public func w8<P: Peer>(_: P.Type) {
    let loop = P(cpu: nil)
    let timer = Confined<P.Timer?>(nil)
    let made = Gate()
    loop.enter {
        timer.value = loop.timer(in: 3600 * 1_000_000_000, NeverCalled(number: 1, of: loop))
        made.open()
    }
    made.wait()
    bk_report_idle()
}

/// W9: resident growth per timer or per descriptor.
///
/// A closure of two words is in it: each needs one. The workload's own array of handles is not: a loop holds what is
/// added to it, and a caller keeps a handle only to cancel.
@inlinable
public func w9<P: Peer>(_: P.Type) {
    let loop = P(cpu: nil)
    let done = Gate()
    let what = String(cString: bk_text("of", "timers"))
    loop.enter {
        switch what {
        case "timers": w9Timers(loop)
        case "delays": w9Delays(loop)
        default: w9Descriptors(loop)
        }
        done.open()
    }
    done.wait()
}

@inlinable
func w9Timers<P: Peer>(_ loop: P) {
    grow(by: Int(bk_number("k", 100_000))) { random, number in
        loop.timer(in: farAway(&random), NeverCalled(number: number, of: loop))
    }
}

/// Timers by the peer's lightest way.
@inlinable
func w9Delays<P: Peer>(_ loop: P) {
    grow(by: Int(bk_number("k", 100_000))) { random, number in
        loop.delay(farAway(&random), NeverCalled(number: number, of: loop))
    }
}

@inlinable @inline(__always)
func grow<Handle>(by count: Int, _ make: (inout bk_random, Int) -> Handle) {
    var random = bk_random_seeded()
    // One first: what a loop makes once is not counted.
    let first = make(&random, 1)
    let handles = places(of: Handle.self, count)
    _ = bk_resident()
    let before = bk_resident()
    for place in 0..<count { (handles + place).initialize(to: make(&random, place)) }
    bk_result("bytes", Double(bk_resident() - before) / Double(count))
    withExtendedLifetime(first) {}
}

@inlinable
func w9Descriptors<P: Peer>(_ loop: P) {
    let count = Int(bk_number("n", 1000))
    let ends = makePipes(count + 1)
    let first = loop.watch(ends[count].read, NeverCalled(number: count, of: loop))
    let watches = places(of: P.Watch.self, count)
    _ = bk_resident()
    let before = bk_resident()
    for place in 0..<count {
        (watches + place).initialize(to: loop.watch(ends[place].read, NeverCalled(number: place, of: loop)))
    }
    bk_result("bytes", Double(bk_resident() - before) / Double(count))
    withExtendedLifetime(first) {}
}

/// Memory for handles that is resident already, so that it does not count as the loop's.
@inlinable
func places<Handle>(of _: Handle.Type, _ count: Int) -> UnsafeMutablePointer<Handle> {
    let places = UnsafeMutablePointer<Handle>.allocate(capacity: count)
    UnsafeMutableRawPointer(places).initializeMemory(
        as: UInt8.self, repeating: 0, count: count * MemoryLayout<Handle>.stride)
    return places
}

/// Runs the workload that the command line names.
@inlinable
public func runWorkload<P: Peer>(_ peer: P.Type) {
    let name = CommandLine.argc > 1 ? String(cString: CommandLine.unsafeArgv[1]!) : ""
    // Nothing before it: starting is what is measured.
    if name == "W10" { return P.start() }
    bk_arguments(CommandLine.argc, CommandLine.unsafeArgv)
    switch name {
    case "W1": w1(peer)
    case "W2": w2(peer)
    case "W2b": w2b(peer)
    case "W3": w3(peer)
    case "W4": w4(peer)
    case "W4r": w4Restart(peer)
    case "W4u": w4AsWritten(peer)
    case "W5": w5(peer)
    case "W6": w6(peer)
    case "W6b": w6b(peer)
    case "W7": w7(peer)
    case "W7b": w7b(peer)
    case "W8": w8(peer)
    case "W9": w9(peer)
    default: bk_skip("no such workload")
    }
    bk_finish()
}
