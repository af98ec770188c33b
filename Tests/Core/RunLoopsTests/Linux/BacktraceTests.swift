// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

import RunLoops
import RunLoopsTestSupport
import Runtime
import Testing

/// Specification 8: a stack trace says what kind of callout it is.
@Suite(.ownThread) struct BacktraceTests {
    private static func names() -> [String] {
        // Names alone: places in the sources and inlined functions would take seconds of reading the test program.
        guard let trace = try? Backtrace.capture(limit: nil),
            let symbols = trace.symbolicated(options: [.useSymbolCache])
        else { return [] }
        return symbols.frames.compactMap { $0.symbol?.name }
    }

    /// The callouts are inside each other, so that the symbols of the test program are read once.
    @Test func `The stack trace of a callout contains a function named after the callout's kind`() {
        let names = withRealLoop { loop -> [String] in
            let pipe = DescriptorPair.pipe()
            let names = Box<[String]>([])
            let descriptorMode = Self.mode("descriptor", of: loop)
            addDescriptorSource(
                RunLoop.DescriptorSource(pipe.second, for: .writable) { descriptorSource, _ in
                    descriptorSource.invalidate()
                    names.value = Self.names()
                    loop.stop()
                }, to: loop, in: descriptorMode)
            let sourceMode = Self.mode("source", of: loop)
            let source = RunLoop.Source { _ in
                _ = loop.runPlenty(descriptorMode)
                loop.stop()
            }
            loop.add(source, in: sourceMode)
            source.signal()
            let observerMode = Self.mode("observer", of: loop)
            loop.add(
                RunLoop.Observer(.entry) { _, _ in
                    _ = loop.runPlenty(sourceMode)
                    loop.stop()
                }, in: observerMode)
            loop.add(
                RunLoop.Timer(.after(.zero)) { _ in
                    _ = loop.runPlenty(observerMode)
                    loop.stop()
                }, in: Self.mode("timer", of: loop))
            loop.performLocally {
                _ = loop.runPlenty("timer")
                loop.stop()
            }
            _ = Self.mode(.default, of: loop)
            _ = loop.runPlenty()
            return names.value
        }
        for kind in ["A_DESCRIPTOR_SOURCE", "A_SOURCE", "AN_OBSERVER", "A_TIMER", "A_BLOCK"] {
            let name = "RUNLOOP_IS_CALLING_OUT_TO_\(kind)"
            #expect(names.contains { $0.contains(name) }, "\(name) is not in \(names)")
        }
    }

    /// A mode with an item that never has anything to do, so that the loop can run in it.
    private static func mode(_ mode: RunLoop.Mode, of loop: RunLoop) -> RunLoop.Mode {
        loop.add(RunLoop.Timer(.after(.seconds(86_400))) { _ in }, in: mode)
        return mode
    }
}
