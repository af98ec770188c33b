// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

import CoreFoundationRunLoop
import RunLoopsTestSupport
import Testing

/// What Apple's functions crash on traps with a text that names the remedy.
@Suite(.ownThread) struct BadInputTests {
    @Test func `NULL in place of a loop traps`() async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            CFRunLoopStop(nil)
        }
        expectText(result, "was given NULL in place of a CFRunLoop")
    }

    @Test func `NULL in place of a timer or a mode traps`() async {
        let noTimer = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            CFRunLoopAddTimer(CFRunLoopGetCurrent(), nil, .defaultMode)
        }
        expectText(noTimer, "CFRunLoopAddTimer(_:_:_:) was given NULL in place of a CFRunLoopTimer")
        let noMode = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let mode: CFString? = nil
            CFRunLoopAddTimer(CFRunLoopGetCurrent(), CFRunLoopTimerCreateWithHandler(nil, 0, 0, 0, 0) { _ in }, mode)
        }
        expectText(noMode, "in place of a mode. Use kCFRunLoopDefaultMode")
    }

    @Test func `Passing an object of another Core Foundation type traps`() async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let timer = CFRunLoopTimerCreateWithHandler(nil, 0, 0, 0, 0) { _ in }!
            CFRunLoopStop(
                Unmanaged<CFRunLoop>.fromOpaque(Unmanaged.passUnretained(timer).toOpaque()).takeUnretainedValue())
        }
        expectText(result, "which is no CFRunLoop of CoreFoundationRunLoop")
        expectText(result, "import CoreFoundationRunLoop in the file that makes it")
    }

    @Test func `A missing source context and a source context of an unknown version trap`() async {
        let version = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            var context = CFRunLoopSourceContext()
            context.version = 2
            CFRunLoopSourceCreate(nil, 0, &context)
        }
        expectText(version, "a context of version 2. Set the version to 0, or to 1")
        let none = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let context: UnsafeMutablePointer<CFRunLoopSourceContext>? = nil
            CFRunLoopSourceCreate(nil, 0, context)
        }
        expectText(none, "was given no context")
    }

    @Test func `A port context without getPort and a port context without a descriptor trap`() async {
        let none = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            makePort(nil)
        }
        expectText(none, "version 1 without getPort")
        let bad = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            CFRunLoopAddSource(CFRunLoopGetCurrent(), makePort { _ in -1 }, .defaultMode)
        }
        expectText(bad, "returned -1, which is no file descriptor")
        let closed = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            CFRunLoopAddSource(CFRunLoopGetCurrent(), makePort { _ in 12_345 }, .defaultMode)
        }
        expectText(closed, "the system refused to watch descriptor 12345")
    }

    @Test func `A reply that is not data traps`() async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let pair = DescriptorPair.pipe()
            pair.send()
            descriptor = pair.first
            CFRunLoopAddSource(CFRunLoopGetCurrent(), makePort { _ in descriptor }, .defaultMode)
            CFRunLoopRunInMode(.defaultMode, 1000, true)
        }
        expectText(result, "Return a CFData that the caller owns")
    }

    @Test func `Creating a timer without a callout or an observer without a block traps`() async {
        let timer = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            CFRunLoopTimerCreate(nil, 0, 0, 0, 0, nil, nil)
        }
        expectText(timer, "was given no callout")
        let observer = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            CFRunLoopObserverCreateWithHandler(nil, 1, true, 0, nil)
        }
        expectText(observer, "was given no block")
    }

    @Test func `A block for an object that is not a mode traps`() async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            CFRunLoopPerformBlock(CFRunLoopGetCurrent(), CFRunLoopGetCurrent()) {}
        }
        expectText(result, "in place of a mode. Pass a CFString, or a CFArray or CFSet of them")
    }

    @Test func `A source without a perform function can be signalled`() {
        TestThread.run {
            var context = CFRunLoopSourceContext()
            let source = CFRunLoopSourceCreate(nil, 0, &context)
            CFRunLoopAddSource(CFRunLoopGetCurrent(), source, .defaultMode)
            CFRunLoopSourceSignal(source)
            #expect(CFRunLoopRunInMode(.defaultMode, 0, true) == .handledSource)
            CFRunLoopSourceInvalidate(source)
        }
    }
}

private nonisolated(unsafe) var descriptor: CInt = -1

@discardableResult
private func makePort(_ getPort: (@convention(c) (UnsafeMutableRawPointer?) -> CInt)?) -> CFRunLoopSource {
    var context = CFRunLoopSourceContext1()
    context.version = 1
    context.getPort = getPort
    context.perform = { _, _, _, _ in
        let text: CFString = CFStringCreateWithCString(nil, "reply", CFStringBuiltInEncodings.UTF8.rawValue)
        return Unmanaged.passRetained(text).toOpaque()
    }
    return withUnsafeMutableBytes(of: &context) {
        CFRunLoopSourceCreate(nil, 0, $0.assumingMemoryBound(to: CFRunLoopSourceContext.self).baseAddress)
    }
}
