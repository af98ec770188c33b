// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

internal import RunLoops

/// The stacks of a thread during a hang, and the functions that most of the stacks have in common.
struct HangSamples {
    private struct Frame {
        var counter: UInt64
        // Found when the stack was taken: the library may be unloaded later, and others take its addresses.
        var symbol: Symbolizer.Symbol
    }

    /// The maximum number of stacks; a new stack replaces the oldest.
    private static let most = 64

    private var stacks: [[Frame]] = []
    private var oldest = 0
    /// How often the thread was found waiting, by the kind of wait.
    private(set) var waits: [RunLoop.HangWatch.Cause.Wait: Int] = [:]
    /// How often the thread was found running or ready to run.
    private(set) var runs = 0

    /// The number of stacks that are kept.
    var count: Int { stacks.count }

    mutating func add(_ sample: StackSampler.Sample, _ symbolizer: Symbolizer) {
        if let wait = sample.wait { waits[wait, default: 0] += 1 }
        if sample.isRunning { runs += 1 }
        let stack = Self.insideCallout(sample, symbolizer)
        guard !stack.isEmpty else { return }
        if stacks.count < Self.most {
            stacks.append(stack)
        } else {
            stacks[oldest] = stack
            oldest = (oldest + 1) % Self.most
        }
    }

    /// The frames inside the innermost callout; all frames, where there is no callout.
    private static func insideCallout(_ sample: StackSampler.Sample, _ symbolizer: Symbolizer) -> [Frame] {
        guard let code = sample.code else { return [] }
        var stack: [Frame] = []
        for (index, counter) in sample.counters.enumerated() {
            // The address after a call may be the beginning of another function: except in the innermost frame, the
            // address of the call itself is looked up.
            let symbol = symbolizer.symbol(at: index == 0 ? counter : counter &- 1, in: code)
            if let name = symbol.mangled, name.contains("RUNLOOP_IS_") { return stack }
            // A thunk between two calling conventions, made by the compiler, tells the reader nothing.
            if symbol.name?.hasPrefix("reabstraction thunk") == true { continue }
            stack.append(Frame(counter: counter, symbol: symbol))
        }
        return stack
    }

    /// The functions that most stacks have in common, outermost first.
    var majorityFunctions: [UInt64] {
        guard let (index, depth, _) = majority else { return [] }
        return stacks[index].suffix(depth).reversed().map(\.symbol.start)
    }

    /// The functions of the majority with their names, innermost first, and the number of stacks that have them.
    var majorityStack: (frames: [RunLoop.HangWatch.StackFrame], count: Int) {
        guard let (index, depth, count) = majority else { return ([], 0) }
        let frames = stacks[index].suffix(depth).map { frame in
            RunLoop.HangWatch.StackFrame(
                address: UInt(frame.counter), function: frame.symbol.name, module: frame.symbol.module,
                offset: Int(truncatingIfNeeded: frame.symbol.offset))
        }
        return (frames, count)
    }

    private var majority: (index: Int, depth: Int, count: Int)? {
        Self.majority(of: stacks.map { $0.map(\.symbol.start) })
    }

    /// Returns the longest sequence of outermost functions that more than half of the stacks share, and the number of
    /// stacks that have it.
    ///
    /// Each stack is a list of functions, innermost first. The shared sequence is the last `depth` functions of
    /// `stacks[index]`. A thread that calls many small functions from one function is therefore reported in the calling
    /// function.
    static func majority(of stacks: [[UInt64]]) -> (index: Int, depth: Int, count: Int)? {
        guard !stacks.isEmpty else { return nil }
        var group = Array(stacks.indices)
        var depth = 0
        while true {
            var counts: [UInt64: Int] = [:]
            for index in group where stacks[index].count > depth {
                counts[function(stacks[index], depth), default: 0] += 1
            }
            // Among equals the smallest address, so that the answer does not depend on a hash.
            guard let best = counts.max(by: { ($0.value, $1.key) < ($1.value, $0.key) }), best.value * 2 > stacks.count
            else { break }
            group.removeAll { stacks[$0].count <= depth || function(stacks[$0], depth) != best.key }
            depth += 1
        }
        return depth == 0 ? nil : (group[0], depth, group.count)
    }

    private static func function(_ stack: [UInt64], _ depth: Int) -> UInt64 { stack[stack.count - 1 - depth] }
}
