// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

import CoreFoundationRunLoop
import RunLoopsTestSupport
import Testing

/// Loops, modes and runs under Core Foundation's names, as Apple's source spells them.
@Suite(.ownThread) struct LoopTests {
    @Test func `CFRunLoopGetCurrent returns one object for each thread`() {
        let (mine, again) = TestThread.run { (address(CFRunLoopGetCurrent()), address(CFRunLoopGetCurrent())) }
        #expect(mine == again)
        let known = CFRunLoopGetMain()
        #expect(CFEqual(known, CFRunLoopGetMain()))
        TestThread.run { #expect(!CFEqual(CFRunLoopGetCurrent(), CFRunLoopGetMain())) }
    }

    @Test func `Loops, sources, timers and observers have four different type IDs`() {
        let types = Set([
            CFRunLoopGetTypeID(), CFRunLoopSourceGetTypeID(), CFRunLoopTimerGetTypeID(), CFRunLoopObserverGetTypeID(),
        ])
        #expect(types.count == 4)
        TestThread.run {
            #expect(CFGetTypeID(CFRunLoopGetCurrent()) == CFRunLoopGetTypeID())
            let timer = CFRunLoopTimerCreateWithHandler(nil, 0, 0, 0, 0) { _ in }
            #expect(CFGetTypeID(timer) == CFRunLoopTimerGetTypeID())
            #expect(text(CFCopyTypeIDDescription(CFRunLoopTimerGetTypeID())) == "CFRunLoopTimer")
        }
    }

    @Test func `The description of a loop contains its modes and items`() {
        TestThread.run {
            let loop = CFRunLoopGetCurrent()
            let timer = CFRunLoopTimerCreateWithHandler(nil, .infinity, 0, 0, 0) { _ in }
            CFRunLoopAddTimer(loop, timer, CFRunLoopMode("a mode of its own"))
            let description = text(CFCopyDescription(loop))
            #expect(description.hasPrefix("<CFRunLoop 0x"))
            #expect(description.contains("a mode of its own"))
            CFRunLoopTimerInvalidate(timer)
        }
    }

    @Test func `A mode may be passed as a CFRunLoopMode or a CFString`() {
        TestThread.run {
            let loop = CFRunLoopGetCurrent()
            let timer = CFRunLoopTimerCreateWithHandler(nil, .infinity, 0, 0, 0) { _ in }
            CFRunLoopAddTimer(loop, timer, .commonModes)
            #expect(CFRunLoopContainsTimer(loop, timer, kCFRunLoopDefaultMode))
            #expect(CFRunLoopContainsTimer(loop, timer, .defaultMode))
            #expect(CFRunLoopContainsTimer(loop, timer, CFRunLoopMode.commonModes.rawValue))
            CFRunLoopRemoveTimer(loop, timer, kCFRunLoopCommonModes)
            #expect(!CFRunLoopContainsTimer(loop, timer, CFRunLoopMode.defaultMode))
        }
    }

    @Test func `kCFRunLoopDefaultMode can be used as a CFRunLoopMode and as a CFString`() {
        let mode: CFRunLoopMode = kCFRunLoopDefaultMode
        let string: CFString = kCFRunLoopDefaultMode
        let either = kCFRunLoopDefaultMode
        func name(of mode: CFRunLoopMode = kCFRunLoopCommonModes) -> String { text(mode.rawValue) }
        #expect(mode == .defaultMode && mode == kCFRunLoopDefaultMode)
        #expect(mode.rawValue === string && either === string)
        #expect([kCFRunLoopDefaultMode, .commonModes] == [mode, CFRunLoopMode.common])
        #expect(name() == text(kCFRunLoopCommonModes))
        switch mode {
        case kCFRunLoopDefaultMode: break
        default: Issue.record("a mode that is not the default mode")
        }
        // As code for Linux says it, where the toolchain's module has no such members.
        #expect(CFRunLoopMode.usual == mode && CFRunLoopMode.common == .commonModes)
    }

    @Test func `A mode marked as common gets the common items`() {
        TestThread.run {
            let loop = CFRunLoopGetCurrent()
            let timer = CFRunLoopTimerCreateWithHandler(nil, .infinity, 0, 0, 0) { _ in }
            CFRunLoopAddTimer(loop, timer, .commonModes)
            let tracking = CFRunLoopMode("tracking")
            #expect(!CFRunLoopContainsTimer(loop, timer, tracking))
            CFRunLoopAddCommonMode(loop, tracking)
            #expect(CFRunLoopContainsTimer(loop, timer, tracking))
            CFRunLoopTimerInvalidate(timer)
        }
    }

    @Test func `CFRunLoopCopyAllModes returns the modes that an item or a block was added to`() {
        TestThread.run {
            let loop = CFRunLoopGetCurrent()
            CFRunLoopPerformBlock(loop, CFRunLoopMode("second").rawValue) {}
            let modes = CFRunLoopCopyAllModes(loop)!
            let names = (0..<CFArrayGetCount(modes)).map {
                text(Unmanaged<CFString>.fromOpaque(CFArrayGetValueAtIndex(modes, $0)!).takeUnretainedValue())
            }
            #expect(names == ["kCFRunLoopDefaultMode", "second"])
        }
    }

    @Test func `CFRunLoopCopyCurrentMode returns the mode of the innermost run`() {
        TestThread.run {
            let loop = CFRunLoopGetCurrent()
            let inner = CFRunLoopMode("inner")
            #expect(CFRunLoopCopyCurrentMode(loop) == nil)
            let seen = Box<[CFRunLoopMode?]>([])
            CFRunLoopPerformBlock(loop, kCFRunLoopDefaultMode) {
                CFRunLoopPerformBlock(loop, inner.rawValue) { seen.value.append(CFRunLoopCopyCurrentMode(loop)) }
                CFRunLoopRunInMode(inner, 0, false)
                seen.value.append(CFRunLoopCopyCurrentMode(loop))
            }
            CFRunLoopRunInMode(.defaultMode, 0, false)
            #expect(seen.value == [inner, .defaultMode])
        }
    }

    @Test func `CFRunLoopRunInMode returns each of its results`() {
        TestThread.run {
            let loop = CFRunLoopGetCurrent()
            #expect(CFRunLoopRunInMode(.defaultMode, 1000, false) == .finished)
            let timer = CFRunLoopTimerCreateWithHandler(nil, .infinity, 0, 0, 0) { _ in }
            CFRunLoopAddTimer(loop, timer, .defaultMode)
            #expect(CFRunLoopRunInMode(.defaultMode, 0, false) == .timedOut)
            #expect(CFRunLoopRunInMode(.defaultMode, -3, false) == .timedOut)
            #expect(CFRunLoopRunInMode(.defaultMode, 0.000_1, false) == .timedOut)
            #expect(CFRunLoopRunInMode(.commonModes, 1000, false) == .finished)
            CFRunLoopPerformBlock(loop, kCFRunLoopDefaultMode) { CFRunLoopStop(loop) }
            #expect(CFRunLoopRunInMode(.defaultMode, 1e30, false) == .stopped)
            var context = CFRunLoopSourceContext()
            context.perform = { _ in }
            let source = CFRunLoopSourceCreate(nil, 0, &context)
            CFRunLoopAddSource(loop, source, .defaultMode)
            CFRunLoopSourceSignal(source)
            #expect(CFRunLoopRunInMode(.defaultMode, .nan, true) == .handledSource)
            CFRunLoopSourceInvalidate(source)
            CFRunLoopTimerInvalidate(timer)
        }
    }

    @Test func `Another thread wakes and stops a sleeping loop`() {
        let loops = Locked<CFRunLoop?>(nil)
        let began = Permit()
        let thread = TestThread {
            let loop = CFRunLoopGetCurrent()
            let timer = CFRunLoopTimerCreateWithHandler(nil, .infinity, 0, 0, 0) { _ in }
            CFRunLoopAddTimer(loop, timer, .commonModes)
            loops.withLock { $0 = loop }
            began.signal()
            CFRunLoopRun()
            CFRunLoopTimerInvalidate(timer)
        }
        began.wait()
        let loop = loops.withLock { $0 }
        waitUntil { CFRunLoopIsWaiting(loop) }
        let ran = Locked(false)
        CFRunLoopPerformBlock(loop, kCFRunLoopCommonModes) { ran.withLock { $0 = true } }
        CFRunLoopWakeUp(loop)
        waitUntil { ran.withLock { $0 } }
        CFRunLoopStop(loop)
        thread.join()
    }

    @Test func `Calls on the loop of an ended thread do nothing`() {
        let kept = Locked<CFRunLoop?>(nil)
        TestThread.run { kept.withLock { $0 = CFRunLoopGetCurrent() } }
        let loop = kept.withLock { $0 }
        CFRunLoopWakeUp(loop)
        CFRunLoopStop(loop)
        CFRunLoopPerformBlock(loop, kCFRunLoopDefaultMode) { Issue.record("This loop never runs.") }
        let timer = CFRunLoopTimerCreateWithHandler(nil, 0, 0, 0, 0) { _ in }
        CFRunLoopAddTimer(loop, timer, .defaultMode)
        #expect(!CFRunLoopContainsTimer(loop, timer, .defaultMode))
        #expect(text(CFCopyDescription(loop)).hasPrefix("<CFRunLoop"))
    }
}

func text(_ string: CFString) -> String {
    withUnsafeTemporaryAllocation(of: CChar.self, capacity: 100_000) { buffer in
        #expect(CFStringGetCString(string, buffer.baseAddress, buffer.count, CFStringBuiltInEncodings.UTF8.rawValue))
        return String(cString: buffer.baseAddress!)
    }
}

func address(_ instance: AnyObject) -> UInt { UInt(bitPattern: Unmanaged.passUnretained(instance).toOpaque()) }

extension CFRunLoopMode {
    fileprivate static let usual = kCFRunLoopDefaultMode!
    fileprivate static let common: CFRunLoopMode = kCFRunLoopCommonModes
}
