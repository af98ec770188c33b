// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

/// The stacks of a thread while it hangs, and what they have in common.
internal import RunLoops

struct HangSamples {
    /// Older ones are dropped.
    private static let most = 64

    private var stacks: [[(function: UInt64, counter: UInt64)]] = []
    private var oldest = 0
    /// How often the thread was found to wait, and for what.
    private(set) var waits: [RunLoop.HangWatch.Cause.Wait: Int] = [:]
    /// How often it was found ready to run, or running.
    private(set) var runs = 0

    /// How many stacks are kept.
    var count: Int { stacks.count }

    mutating func add(_ sample: StackSampler.Sample, _ symbolizer: Symbolizer) {
        if let wait = sample.wait { waits[wait, default: 0] += 1 }
        if sample.isRunning { runs += 1 }
        let stack = Self.insideCallout(sample.counters, symbolizer)
        guard !stack.isEmpty else { return }
        if stacks.count < Self.most {
            stacks.append(stack)
        } else {
            stacks[oldest] = stack
            oldest = (oldest + 1) % Self.most
        }
    }

    /// The frames inside the innermost callout; all frames, where there is no callout.
    private static func insideCallout(
        _ counters: [UInt64], _ symbolizer: Symbolizer
    ) -> [(function: UInt64, counter: UInt64)] {
        var stack: [(function: UInt64, counter: UInt64)] = []
        for (index, counter) in counters.enumerated() {
            let symbol = symbolizer.symbol(at: lookup(counter, index))
            if let name = symbol.mangled, name.contains("RUNLOOP_IS_") { return stack }
            // What the compiler puts between two conventions of calling says nothing to anybody.
            if symbol.name?.hasPrefix("reabstraction thunk") == true { continue }
            stack.append((symbol.start, counter))
        }
        return stack
    }

    /// What follows a call may be another function's beginning: except in the innermost frame, the call is meant.
    private static func lookup(_ counter: UInt64, _ index: Int) -> UInt64 { index == 0 ? counter : counter - 1 }

    /// The functions that most stacks have in common, outermost first.
    var majorityFunctions: [UInt64] {
        guard let (index, depth, _) = majority else { return [] }
        return stacks[index].suffix(depth).reversed().map(\.function)
    }

    /// The same with names, innermost first, and in how many stacks they are.
    func majorityStack(_ symbolizer: Symbolizer) -> (frames: [RunLoop.HangWatch.StackFrame], count: Int) {
        guard let (index, depth, count) = majority else { return ([], 0) }
        let stack = stacks[index]
        let frames = (stack.count - depth..<stack.count).map { index in
            let counter = stack[index].counter
            let symbol = symbolizer.symbol(at: Self.lookup(counter, index))
            return RunLoop.HangWatch.StackFrame(
                address: UInt(counter), function: symbol.name, module: symbol.module, offset: Int(symbol.offset))
        }
        return (frames, count)
    }

    private var majority: (index: Int, depth: Int, count: Int)? {
        MajorityStack.find(stacks.map { $0.map(\.function) })
    }
}
