// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

import RunLoops
import RunLoopsTestSupport
import Runtime
import Testing

/// Specification 8: a stack trace says what kind of callout it is.
@Suite(.ownThread, .timeLimit(.minutes(10))) struct BacktraceTests {
    private static func names() -> [String] {
        guard let trace = try? Backtrace.capture(), let symbols = trace.symbolicated() else { return [] }
        return symbols.frames.compactMap { $0.symbol?.name }
    }

    @Test func `Each kind of callout is in the stack under its name`() {
        let stacks = withRealLoop { loop -> [String: [String]] in
            let stacks = Box<[String: [String]]>([:])
            func note(_ kind: String) { stacks.value[kind] = Self.names() }
            let pipe = DescriptorPair.pipe()
            addDescriptorSource(
                RunLoop.DescriptorSource(pipe.second, for: .writable) { descriptorSource, _ in
                    note("A_DESCRIPTOR_SOURCE")
                    descriptorSource.invalidate()
                }, to: loop)
            let source = RunLoop.Source { _ in note("A_SOURCE") }
            loop.add(source, in: .default)
            source.signal()
            loop.add(RunLoop.Observer(.entry) { _, _ in note("AN_OBSERVER") }, in: .default)
            loop.add(RunLoop.Timer(.after(.zero)) { _ in note("A_TIMER") }, in: .default)
            loop.add(RunLoop.Timer(.after(.seconds(3600))) { _ in }, in: .default)
            loop.performLocally { note("A_BLOCK") }
            // One kind a turn, so that a slow symbolication keeps none from its turn.
            while stacks.value.count < 5 { loop.poll() }
            return stacks.value
        }
        #expect(Set(stacks.keys) == ["A_DESCRIPTOR_SOURCE", "A_SOURCE", "AN_OBSERVER", "A_TIMER", "A_BLOCK"])
        for (kind, names) in stacks {
            let name = "RUNLOOP_IS_CALLING_OUT_TO_\(kind)"
            #expect(names.contains { $0.contains(name) }, "\(name) is not in \(names)")
        }
    }
}
