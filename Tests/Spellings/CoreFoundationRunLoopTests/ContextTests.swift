// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

import CoreFoundationRunLoop
import RunLoopsTestSupport
import Testing

/// Each retain of an info has its release, whatever a program does with its items, and no info is used after the last.
@Suite(.ownThread) struct ContextTests {
    /// Each program runs on a thread of its own for a part of the seeds, because a loop is torn down with its thread.
    @Test func `Retains and releases of infos balance in random programs`() {
        let programs = isFull ? 100_000 : 2_000
        let perThread = 10
        for first in stride(from: 0, to: programs, by: perThread) {
            let ledgers = TestThread.run {
                (first..<(first + perThread)).map { seed -> Ledger in
                    let program = RandomProgram(seed: UInt64(seed))
                    program.run()
                    return program.ledger
                }
            }
            // What programs have left in the loop went with the thread.
            for ledger in ledgers {
                #expect(ledger.problems == [])
                #expect(ledger.open == 0, "seeds from \(first)")
            }
        }
    }

    @Test func `The info of a timer and of an observer is released when they are invalidated`() {
        TestThread.run {
            let ledger = Ledger()
            let timer = ledger.makeTimer(0, interval: 1) { _ in }
            let observer = ledger.makeObserver(repeats: true) { _ in }
            #expect(ledger.open == 2)
            CFRunLoopTimerInvalidate(timer)
            CFRunLoopObserverInvalidate(observer)
            #expect(ledger.open == 0)
            var context = CFRunLoopTimerContext()
            CFRunLoopTimerGetContext(timer, &context)
            #expect(context.info == nil && context.retain != nil)
            CFRunLoopTimerInvalidate(timer)
            #expect(ledger.problems == [])
        }
    }

    @Test func `The info of a source is released with the source and not when it is invalidated`() {
        TestThread.run {
            let ledger = Ledger()
            var source = Optional(ledger.makeSource { _ in })
            CFRunLoopSourceInvalidate(source)
            #expect(ledger.open == 1)
            source = nil
            #expect(ledger.open == 0)
        }
    }

    @Test func `A timer invalidated in its callout keeps its info until the callout returns`() {
        TestThread.run {
            let ledger = Ledger()
            var openInside = 0
            let timer = ledger.makeTimer(0, interval: 1) { timer in
                CFRunLoopTimerInvalidate(Unmanaged<CFRunLoopTimer>.fromOpaque(timer).takeUnretainedValue())
                openInside = ledger.open
            }
            CFRunLoopAddTimer(CFRunLoopGetCurrent(), timer, .defaultMode)
            CFRunLoopRun()
            #expect(openInside == 1)
            #expect(ledger.open == 0)
        }
    }
}

/// The infos of one program, each with its number of references.
final class Ledger: @unchecked Sendable {
    // Unchecked: a program and its ledger are used by one thread at a time.
    private(set) var problems: [String] = []
    fileprivate var references = 0

    /// How many retains have had no release.
    var open: Int { references }

    fileprivate func note(_ problem: String) { problems.append(problem) }

    func makeTimer(
        _ date: CFAbsoluteTime, interval: CFTimeInterval, _ body: @escaping (UnsafeMutableRawPointer) -> Void
    ) -> CFRunLoopTimer {
        withInfo(body) { info in
            var context = CFRunLoopTimerContext(
                version: 0, info: info, retain: Info.retain, release: Info.release, copyDescription: Info.describe)
            return CFRunLoopTimerCreate(
                nil, date, interval, 0, 0,
                { Info.of($1).call(Unmanaged.passUnretained($0!).toOpaque()) }, &context)
        }
    }

    func makeObserver(repeats: Bool, _ body: @escaping (UnsafeMutableRawPointer) -> Void) -> CFRunLoopObserver {
        withInfo(body) { info in
            var context = CFRunLoopObserverContext(
                version: 0, info: info, retain: Info.retain, release: Info.release, copyDescription: Info.describe)
            return CFRunLoopObserverCreate(
                nil, CFRunLoopActivity.allActivities.rawValue, repeats, 0,
                { observer, _, info in Info.of(info).call(Unmanaged.passUnretained(observer!).toOpaque()) }, &context)
        }
    }

    func makeSource(_ body: @escaping (UnsafeMutableRawPointer) -> Void) -> CFRunLoopSource {
        withInfo(body) { info in
            var context = CFRunLoopSourceContext()
            context.info = info
            (context.retain, context.release, context.copyDescription) = (Info.retain, Info.release, Info.describe)
            context.schedule = { info, _, _ in Info.of(info).check() }
            context.cancel = { info, _, _ in Info.of(info).check() }
            context.perform = { Info.of($0).call($0!) }
            return CFRunLoopSourceCreate(nil, 0, &context)
        }
    }

    func makePort(_ pair: DescriptorPair, _ body: @escaping (UnsafeMutableRawPointer) -> Void) -> CFRunLoopSource {
        withInfo(body, pair) { info in
            var context = CFRunLoopSourceContext1()
            context.version = 1
            context.info = info
            (context.retain, context.release, context.copyDescription) = (Info.retain, Info.release, Info.describe)
            context.getPort = { Info.of($0).pair!.first }
            context.perform = { _, _, _, info in
                _ = readText(Info.of(info).pair!.first)
                Info.of(info).call(info!)
                return nil
            }
            return withUnsafeMutableBytes(of: &context) {
                CFRunLoopSourceCreate(nil, 0, $0.assumingMemoryBound(to: CFRunLoopSourceContext.self).baseAddress)
            }
        }
    }

    private func withInfo<Item>(
        _ body: @escaping (UnsafeMutableRawPointer) -> Void, _ pair: DescriptorPair? = nil,
        _ make: (UnsafeMutableRawPointer) -> Item
    ) -> Item {
        let info = Info(self, pair, body)
        return withExtendedLifetime(info) { make(Unmanaged.passUnretained(info).toOpaque()) }
    }

    /// What an item's functions get.
    ///
    /// A context alone keeps it: a use after the last release is a use of freed memory.
    private final class Info {
        private let ledger: Ledger
        private let body: (UnsafeMutableRawPointer) -> Void
        let pair: DescriptorPair?

        init(_ ledger: Ledger, _ pair: DescriptorPair?, _ body: @escaping (UnsafeMutableRawPointer) -> Void) {
            self.ledger = ledger
            self.pair = pair
            self.body = body
        }

        deinit { if isRetained { ledger.note("an info went while it was retained") } }

        private var isRetained = false

        func check() { if !isRetained { ledger.note("an info was used without a reference") } }

        func call(_ item: UnsafeMutableRawPointer) {
            check()
            body(item)
        }

        static func of(_ info: UnsafeRawPointer?) -> Info { Unmanaged<Info>.fromOpaque(info!).takeUnretainedValue() }

        static let retain: @convention(c) (UnsafeRawPointer?) -> UnsafeRawPointer? = { info in
            Info.of(info).ledger.references += 1
            Info.of(info).isRetained = true
            return UnsafeRawPointer(Unmanaged<Info>.fromOpaque(info!).retain().toOpaque())
        }

        static let release: @convention(c) (UnsafeRawPointer?) -> Void = { info in
            Info.of(info).ledger.references -= 1
            Info.of(info).isRetained = false
            Unmanaged<Info>.fromOpaque(info!).release()
        }

        static let describe: @convention(c) (UnsafeRawPointer?) -> Unmanaged<CFString>? = { info in
            if let info { Info.of(info).check() }
            return .passRetained(CFStringCreateWithCString(nil, "an info", CFStringBuiltInEncodings.UTF8.rawValue))
        }
    }
}
