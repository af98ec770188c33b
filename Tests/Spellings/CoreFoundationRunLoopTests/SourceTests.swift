// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

import CoreFoundationRunLoop
import Glibc
import RunLoopsTestSupport
import Testing

/// Sources of both versions under Core Foundation's names.
@Suite(.ownThread) struct SourceTests {
    @Test func `A signalled source is performed once, with its info`() {
        TestThread.run {
            let counter = Counter()
            let source = makeSource(counter)
            let loop = CFRunLoopGetCurrent()
            CFRunLoopAddSource(loop, source, .defaultMode)
            for _ in 0..<3 { CFRunLoopSourceSignal(source) }
            #expect(CFRunLoopRunInMode(.defaultMode, 0, true) == .handledSource)
            #expect(CFRunLoopRunInMode(.defaultMode, 0, true) == .timedOut)
            #expect(counter.count == 1)
            #expect(CFRunLoopContainsSource(loop, source, .defaultMode))
            CFRunLoopSourceInvalidate(source)
            #expect(!CFRunLoopContainsSource(loop, source, .defaultMode) && !CFRunLoopSourceIsValid(source))
            CFRunLoopSourceSignal(source)
            CFRunLoopAddSource(loop, source, .defaultMode)
            #expect(CFRunLoopRunInMode(.defaultMode, 0, true) == .finished)
            #expect(counter.count == 1)
        }
    }

    @Test func `A source's schedule and cancel functions are called with the loop and each mode`() {
        TestThread.run {
            let log = Log()
            var context = CFRunLoopSourceContext()
            context.info = Unmanaged.passUnretained(log).toOpaque()
            context.schedule = { info, loop, mode in note("schedule", info, loop, mode) }
            context.cancel = { info, loop, mode in note("cancel", info, loop, mode) }
            let source = CFRunLoopSourceCreate(nil, 0, &context)
            let loop = CFRunLoopGetCurrent()
            CFRunLoopAddSource(loop, source, .defaultMode)
            CFRunLoopAddSource(loop, source, .defaultMode)
            CFRunLoopAddSource(loop, source, CFRunLoopMode("other"))
            CFRunLoopRemoveSource(loop, source, .defaultMode)
            CFRunLoopSourceInvalidate(source)
            #expect(
                log.lines == [
                    "schedule kCFRunLoopDefaultMode", "schedule other", "cancel kCFRunLoopDefaultMode", "cancel other",
                ])
        }
    }

    @Test func `A source left in the loop of an ended thread is cancelled and then released`() {
        let log = Locked<[String]>([])
        TestThread.run {
            var context = CFRunLoopSourceContext()
            context.info = Unmanaged.passRetained(NotedToken(log)).toOpaque()
            context.release = { Unmanaged<NotedToken>.fromOpaque($0!).release() }
            context.cancel = { info, loop, _ in
                #expect(CFGetTypeID(loop) == CFRunLoopGetTypeID())
                Unmanaged<NotedToken>.fromOpaque(info!).takeUnretainedValue().log.note("cancelled")
            }
            CFRunLoopAddSource(CFRunLoopGetCurrent(), CFRunLoopSourceCreate(nil, 0, &context), .commonModes)
            log.note("added")
        }
        #expect(log.withLock { $0 } == ["added", "cancelled", "released"])
    }

    @Test func `Another thread signals a source and wakes the loop`() {
        let loops = Locked<CFRunLoop?>(nil)
        let sources = Locked<CFRunLoopSource?>(nil)
        let began = Permit()
        let counter = Counter()
        nonisolated(unsafe) let shared = counter
        let thread = TestThread {
            let source = makeSource(shared)
            CFRunLoopAddSource(CFRunLoopGetCurrent(), source, .defaultMode)
            sources.withLock { $0 = source }
            loops.withLock { $0 = CFRunLoopGetCurrent() }
            began.signal()
            #expect(CFRunLoopRunInMode(.defaultMode, 1e10, true) == .handledSource)
            CFRunLoopSourceInvalidate(source)
        }
        began.wait()
        CFRunLoopSourceSignal(sources.withLock { $0 })
        CFRunLoopWakeUp(loops.withLock { $0 })
        thread.join()
        #expect(counter.count == 1)
    }

    @Test func `Equality and hash of sources use the context's functions`() {
        TestThread.run {
            let (one, other) = (Counter(), Counter())
            #expect(CFEqual(makeSource(one), makeSource(one)))
            #expect(CFHash(makeSource(one)) == CFHash(makeSource(one)))
            #expect(!CFEqual(makeSource(one), makeSource(other)))
            #expect(!CFEqual(makeSource(one), makeSource(one, order: 1)))
            func counting(_ counter: Counter) -> CFRunLoopSource {
                makeSource(counter) {
                    $0.equal = {
                        Counter.of(UnsafeMutableRawPointer(mutating: $0)).count
                            == Counter.of(UnsafeMutableRawPointer(mutating: $1)).count
                    }
                    $0.hash = { CFHashCode(Counter.of(UnsafeMutableRawPointer(mutating: $0)).count) }
                }
            }
            #expect(CFEqual(counting(one), counting(other)))
            other.count = 5
            #expect(!CFEqual(counting(one), counting(other)))
            #expect(CFHash(counting(other)) == 5)
            #expect(!CFEqual(counting(one), makeSource(one)))
        }
    }

    @Test func `Equal sources are separate items of a mode`() {
        TestThread.run {
            let counter = Counter()
            let sources = [makeSource(counter), makeSource(counter)]
            for source in sources {
                CFRunLoopAddSource(CFRunLoopGetCurrent(), source, .defaultMode)
                CFRunLoopSourceSignal(source)
            }
            CFRunLoopRunInMode(.defaultMode, 0, false)
            #expect(counter.count == 2)
            sources.forEach(CFRunLoopSourceInvalidate)
        }
    }

    @Test func `CFRunLoopSourceGetContext returns the context, and the description shows the source's state`() {
        TestThread.run {
            let counter = Counter()
            let source = makeSource(counter, order: 9) {
                $0.copyDescription = { _ in
                    Unmanaged.passRetained(
                        CFStringCreateWithCString(nil, "a counter", CFStringBuiltInEncodings.UTF8.rawValue))
                }
            }
            var context = CFRunLoopSourceContext()
            CFRunLoopSourceGetContext(source, &context)
            #expect(context.info == counter.pointer && context.perform != nil && context.version == 0)
            #expect(CFRunLoopSourceGetOrder(source) == 9)
            let description = text(CFCopyDescription(source))
            #expect(description.hasSuffix("{signalled = No, valid = Yes, order = 9, context = a counter}"))
            CFRunLoopSourceSignal(source)
            #expect(text(CFCopyDescription(source)).contains("signalled = Yes"))
        }
    }

    // MARK: Version 1

    @Test func `A ready descriptor performs a version 1 source with Apple's four arguments`() {
        TestThread.run {
            let port = Port()
            let source = makeSource(port)
            CFRunLoopAddSource(CFRunLoopGetCurrent(), source, .defaultMode)
            CFRunLoopAddSource(CFRunLoopGetCurrent(), source, CFRunLoopMode("other"))
            #expect(CFRunLoopRunInMode(.defaultMode, 0, true) == .timedOut)
            port.pair.send("x")
            #expect(CFRunLoopRunInMode(.defaultMode, 1000, true) == .handledSource)
            #expect(port.texts == ["x"] && port.questions == 1)
            var context = CFRunLoopSourceContext1()
            withUnsafeMutableBytes(of: &context) {
                CFRunLoopSourceGetContext(source, $0.assumingMemoryBound(to: CFRunLoopSourceContext.self).baseAddress)
            }
            #expect(context.version == 1 && context.getPort != nil)
            #expect(text(CFCopyDescription(source)).contains("version = 1"))
            CFRunLoopSourceInvalidate(source)
            port.pair.send("y")
            #expect(CFRunLoopRunInMode(.defaultMode, 0, true) == .finished)
            #expect(port.texts == ["x"])
        }
    }

    @Test func `A version 1 source's reply is written to its descriptor`() {
        TestThread.run {
            let port = Port(.sockets())
            let source = makeSource(port)
            CFRunLoopAddSource(CFRunLoopGetCurrent(), source, .defaultMode)
            port.reply = Array("answer".utf8)
            port.pair.send("question")
            #expect(CFRunLoopRunInMode(.defaultMode, 1000, true) == .handledSource)
            #expect(port.texts == ["question"] && readText(port.pair.second) == "answer")
            port.reply = nil
            port.pair.send("no question")
            #expect(CFRunLoopRunInMode(.defaultMode, 1000, true) == .handledSource)
            #expect(readText(port.pair.second) == "")
            CFRunLoopSourceInvalidate(source)
        }
    }

    @Test func `A version 1 source's reply waits for room in the socket and is dropped if the peer has closed`() {
        TestThread.run {
            let port = Port(.sockets())
            let source = makeSource(port)
            CFRunLoopAddSource(CFRunLoopGetCurrent(), source, .defaultMode)
            // More than a socket takes at once.
            let size = 1 << 21
            port.reply = Array(repeating: 7, count: size)
            let count = Locked(0)
            port.pair.send("question")
            let other = port.pair.second
            let reader = TestThread {
                var part = [UInt8](repeating: 0, count: 1 << 16)
                while count.copy < size {
                    let read = Glibc.read(other, &part, part.count)
                    if read > 0 { count.withLock { $0 += read } } else { usleep(1000) }
                }
            }
            #expect(CFRunLoopRunInMode(.defaultMode, 1000, true) == .handledSource)
            reader.join()
            #expect(count.copy == size)
            // The other end is closed when the reply is sent.
            port.pair.send("last question")
            port.pair.closeSecond()
            #expect(CFRunLoopRunInMode(.defaultMode, 1000, true) == .handledSource)
            #expect(port.texts == ["question", "last question"])
            CFRunLoopSourceInvalidate(source)
        }
    }

    @Test func `A version 1 source uses the descriptor that getPort returns when the source is added`() {
        TestThread.run {
            let port = Port()
            let descriptor = port.descriptor
            port.descriptor = -1
            let source = makeSource(port)
            port.descriptor = descriptor
            CFRunLoopAddSource(CFRunLoopGetCurrent(), source, .commonModes)
            port.pair.send("late")
            #expect(CFRunLoopRunInMode(.defaultMode, 1000, true) == .handledSource)
            #expect(port.texts == ["late"])
            CFRunLoopSourceInvalidate(source)
        }
    }
}

/// A pipe or a pair of sockets, whose first end is a source's port.
private final class Port {
    let pair: DescriptorPair
    var descriptor: CInt
    var texts: [String] = []
    var questions = 0
    /// The result of the perform function.
    var reply: [UInt8]?

    init(_ pair: DescriptorPair = .pipe()) {
        self.pair = pair
        descriptor = pair.first
    }

    static func of(_ info: UnsafeMutableRawPointer?) -> Port { Unmanaged.fromOpaque(info!).takeUnretainedValue() }
}

private func makeSource(_ port: Port) -> CFRunLoopSource {
    var context = CFRunLoopSourceContext1()
    context.version = 1
    context.info = Unmanaged.passUnretained(port).toOpaque()
    context.getPort = {
        Port.of($0).questions += 1
        return Port.of($0).descriptor
    }
    context.perform = { message, size, allocator, info in
        #expect(message == nil && size == 0 && allocator == nil)
        let port = Port.of(info)
        port.texts.append(readText(port.descriptor))
        guard let reply = port.reply, let data = CFDataCreate(nil, reply, reply.count) else { return nil }
        return Unmanaged.passRetained(data).toOpaque()
    }
    return withUnsafeMutablePointer(to: &context) {
        $0.withMemoryRebound(to: CFRunLoopSourceContext.self, capacity: 1) { CFRunLoopSourceCreate(nil, 0, $0) }
    }
}

private func makeSource(
    _ counter: Counter, order: CFIndex = 0, _ change: (inout CFRunLoopSourceContext) -> Void = { _ in }
) -> CFRunLoopSource {
    var context = CFRunLoopSourceContext()
    context.info = counter.pointer
    context.perform = { Counter.of($0).count += 1 }
    change(&context)
    return CFRunLoopSourceCreate(nil, order, &context)
}

private func note(_ what: String, _ info: UnsafeMutableRawPointer?, _ loop: CFRunLoop?, _ mode: CFRunLoopMode?) {
    #expect(CFEqual(loop, CFRunLoopGetCurrent()))
    Unmanaged<Log>.fromOpaque(info!).takeUnretainedValue().lines.append("\(what) \(text(mode!.rawValue))")
}

/// Notes its release in a log that C functions reach through it.
private final class NotedToken {
    let log: Locked<[String]>

    init(_ log: Locked<[String]>) { self.log = log }

    deinit { log.note("released") }
}
