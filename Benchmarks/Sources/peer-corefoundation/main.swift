// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

// The real CFRunLoop, which comes with Foundation.

import BenchKit
@preconcurrency import CoreFoundation
import Workloads

/// What a C callback gets as `info`: a closure, or a descriptor with one.
final class Info {
    let body: @Sendable () -> Void
    let descriptor: Int32

    init(descriptor: Int32 = -1, _ body: @escaping @Sendable () -> Void) {
        self.body = body
        self.descriptor = descriptor
    }

    /// Kept for ever: sources outlive what is measured.
    var kept: UnsafeMutableRawPointer { Unmanaged.passRetained(self).toOpaque() }

    /// SAFETY: `info` was made by `kept`.
    static func of(_ info: UnsafeMutableRawPointer?) -> Info {
        Unmanaged<Info>.fromOpaque(info!).takeUnretainedValue()
    }
}

final class RealLoop: Peer, @unchecked Sendable {
    struct Wake: @unchecked Sendable {
        let source: CFRunLoopSource
        let loop: CFRunLoop
    }

    static let readsItself = false

    let loop: CFRunLoop

    init(cpu: Int32?) {
        let ready = Gate()
        let found = Confined<CFRunLoop?>(nil)
        startThread {
            if let cpu { bk_pin_thread(cpu) }
            found.value = CFRunLoopGetCurrent()
            // Keeps the mode from being empty, which would end the run.
            _ = RealLoop.addSource(to: CFRunLoopGetCurrent()) {}
            ready.open()
            CFRunLoopRun()
        }
        ready.wait()
        loop = found.value!
    }

    private static func addSource(to loop: CFRunLoop, _ body: @escaping @Sendable () -> Void) -> CFRunLoopSource {
        var context = CFRunLoopSourceContext()
        context.info = Info(body).kept
        context.perform = { Info.of($0).body() }
        let source = CFRunLoopSourceCreate(nil, 0, &context)!
        CFRunLoopAddSource(loop, source, kCFRunLoopDefaultMode)
        return source
    }

    static func start() {
        let timer = CFRunLoopTimerCreateWithHandler(nil, CFAbsoluteTimeGetCurrent() + 0.001, 0, 0, 0) { _ in
            CFRunLoopStop(CFRunLoopGetCurrent())
        }
        CFRunLoopAddTimer(CFRunLoopGetCurrent(), timer, kCFRunLoopDefaultMode)
        CFRunLoopRun()
    }

    func enter(_ body: @escaping @Sendable () -> Void) {
        CFRunLoopPerformBlock(loop, kCFRunLoopDefaultMode, body)
        CFRunLoopWakeUp(loop)
    }

    func makeWake(_ body: some Callback) -> Wake {
        Wake(source: Self.addSource(to: loop) { body() }, loop: loop)
    }
    func send(_ wake: Wake) {
        CFRunLoopSourceSignal(wake.source)
        CFRunLoopWakeUp(wake.loop)
    }

    func post(_ body: some Callback) { postHere(isLast: true, body) }
    func postHere(isLast: Bool, _ body: some Callback) {
        CFRunLoopPerformBlock(loop, kCFRunLoopDefaultMode) { body() }
        if isLast { CFRunLoopWakeUp(loop) }
    }

    func makeAgain(_ body: some Callback) -> CFRunLoopSource { Self.addSource(to: loop) { body() } }
    func ask(_ again: CFRunLoopSource) { CFRunLoopSourceSignal(again) }

    // Dates are seconds of the wall clock.

    func timer(in delay: Int64, _ body: some Callback) -> CFRunLoopTimer {
        timer(CFAbsoluteTimeGetCurrent() + Double(delay) / 1e9, 0, body)
    }
    func timer(at due: Int64, tolerance: Int64, _ body: some Callback) -> CFRunLoopTimer {
        let timer = timer(CFAbsoluteTimeGetCurrent() + Double(due - bk_now()) / 1e9, 0, body)
        if tolerance > 0 { CFRunLoopTimerSetTolerance(timer, Double(tolerance) / 1e9) }
        return timer
    }
    func timer(every interval: Int64, _ body: some Callback) -> CFRunLoopTimer {
        timer(CFAbsoluteTimeGetCurrent() + Double(interval) / 1e9, Double(interval) / 1e9, body)
    }
    private func timer(
        _ date: CFAbsoluteTime, _ interval: CFTimeInterval, _ body: some Callback
    ) -> CFRunLoopTimer {
        let timer = CFRunLoopTimerCreateWithHandler(nil, date, interval, 0, 0) { _ in body() }!
        CFRunLoopAddTimer(loop, timer, kCFRunLoopDefaultMode)
        return timer
    }
    func cancel(_ timer: CFRunLoopTimer) { CFRunLoopTimerInvalidate(timer) }
    func restart(_ timer: CFRunLoopTimer, in delay: Int64) {
        CFRunLoopTimerSetNextFireDate(timer, CFAbsoluteTimeGetCurrent() + Double(delay) / 1e9)
    }

    func watch(_ descriptor: Int32, _ body: some Callback) -> CFRunLoopSource {
        var context = CFRunLoopSourceContext1()
        context.version = 1
        context.info = Info(descriptor: descriptor) { body() }.kept
        context.getPort = { Info.of($0).descriptor }
        context.perform = { Info.of($0).body() }
        // The two versions of the context begin alike, and CFRunLoopSourceCreate looks at `version` to tell them apart.
        let source = withUnsafeMutableBytes(of: &context) { bytes in
            // SAFETY: version is 1, so that as many bytes are read as a CFRunLoopSourceContext1 has.
            CFRunLoopSourceCreate(nil, 0, bytes.assumingMemoryBound(to: CFRunLoopSourceContext.self).baseAddress)
        }
        CFRunLoopAddSource(loop, source, kCFRunLoopDefaultMode)
        return source!
    }
}

runWorkload(RealLoop.self)
