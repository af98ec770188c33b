// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

import CoreFoundation
import Foundation
import RunLoops

typealias Ours = RunLoops.RunLoop
typealias Theirs = Foundation.RunLoop

/// What a scene has seen, said by any thread.
final class Said: @unchecked Sendable {
    private let lock = NSLock()
    private var words: [String] = []

    func callAsFunction(_ word: String) { lock.withLock { words.append(word) } }
    var all: [String] { lock.withLock { words } }
    func count(_ word: String) -> Int { all.count { $0 == word } }
    func take() -> [String] {
        lock.withLock {
            defer { words = [] }
            return words
        }
    }
}

/// How the main thread runs.
enum Driver: String, CaseIterable {
    /// Foundation's own loop, for comparison.
    case foundation
    /// This package's loop, run until it is stopped.
    case run
    /// This package's loop, polled by hand.
    case poll
    /// A host that waits for the poll descriptor.
    case host

    /// Runs the main thread until the condition holds; it is asked after each callout that `said` may have changed in.
    @MainActor
    func drive(until isDone: () -> Bool) {
        switch self {
        case .foundation:
            while !isDone() { CFRunLoopRunInMode(kCFRunLoopDefaultMode, 0.02, true) }
        case .run:
            // Stops the run now and then: the condition is not the loop's business.
            let looks = Ours.Timer(.every(.milliseconds(20))) { _ in Ours.main.stop() }
            Ours.main.add(looks, in: .common)
            while !isDone() { Ours.main.run(in: .default, until: nil) }
            looks.invalidate()
        case .poll:
            while !isDone() {
                Ours.main.runTurn()
                usleep(500)
            }
        case .host:
            guard let descriptor = try? Ours.main.pollDescriptor else { fatalError("no descriptor") }
            while !isDone() {
                if !Ours.main.prepareToPoll() {
                    var one = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
                    _ = Glibc.poll(&one, 1, 20)
                }
                Ours.main.runReady()
            }
        }
    }
}

func onThread(_ body: @escaping @Sendable () -> Void) { Thread(block: body).start() }

/// A source of version 0 in Foundation's main loop, with a closure.
final class TheirSource: @unchecked Sendable {
    private let body: @Sendable () -> Void
    private(set) var source: CFRunLoopSource?

    init(order: Int = 0, in mode: CFString = kCFRunLoopDefaultMode, _ body: @escaping @Sendable () -> Void) {
        self.body = body
        var context = CFRunLoopSourceContext()
        context.info = Unmanaged.passUnretained(self).toOpaque()
        context.perform = { Unmanaged<TheirSource>.fromOpaque($0.unsafelyUnwrapped).takeUnretainedValue().body() }
        source = CFRunLoopSourceCreate(nil, order, &context)
        CFRunLoopAddSource(CFRunLoopGetMain(), source, mode)
    }

    func signal() { CFRunLoopSourceSignal(source) }
    func signalAndWake() {
        signal()
        CFRunLoopWakeUp(CFRunLoopGetMain())
    }
    func invalidate() { CFRunLoopSourceInvalidate(source) }
}
