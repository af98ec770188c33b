// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

import Foundation
import RunLoopsKit
import RunLoopsTestSupport
import Testing

import class RunLoops.RunLoop

/// Objects of one thread that another thread uses, as code in language mode 5 can do without a word of the compiler.
@Suite(.limited) struct OtherThreadProcessTests {
    #if compiler(>=6.3)
    @Test(arguments: Misuse.calls.keys.sorted())
    func `A method called on another thread than its object's traps with a message that names the remedy`(
        name: String
    ) async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) { [name] in
            Misuse.play(name)
        }
        expectText(result, "was used by another thread than the one that made it: post the call")
    }
    #endif

    @Test func `The calls above are all public methods of the types that belong to a thread`() throws {
        let sources = URL(filePath: #filePath).deletingLastPathComponent().appending(
            path: "../../../Sources/Libraries/RunLoopsKit")
        guard let files = FileManager.default.enumerator(at: sources, includingPropertiesForKeys: nil) else { return }
        var methods: Set<String> = []
        for case let file as URL in files where file.pathExtension == "swift" {
            let text = try String(contentsOf: file, encoding: .utf8)
            guard text.contains("Thread safety: belongs to the thread that makes it") else { continue }
            let type = file.deletingPathExtension().lastPathComponent
            for match in text.matches(of: /\n        public func (\w+)/) { methods.insert("\(type).\(match.1)") }
        }
        #expect(methods.count > 20)
        #expect(methods.subtracting(Misuse.calls.keys) == [])
    }
}

private enum Misuse {
    /// Makes an object, and returns a call of one of its methods.
    static var calls: [String: () -> () -> Void] {
        func debouncer() -> RunLoop.Debouncer { RunLoop.Debouncer(after: .seconds(1)) {} }
        func throttle() -> RunLoop.Throttle { RunLoop.Throttle(every: .seconds(1)) {} }
        func watchdog() -> RunLoop.WatchdogTimer { RunLoop.WatchdogTimer(limit: .seconds(1)) {} }
        func link() -> RunLoop.DisplayLink { RunLoop.DisplayLink(framesPerSecond: 60) { _ in } }
        let (idle, notifications) = (RunLoop.IdleQueue(), RunLoop.NotificationQueue())
        let (transaction, pool) = (RunLoop.Transaction(), RunLoop.ReleasePool())
        let note = RunLoop.NotificationQueue.Notification("name")
        /// The object is made with the call, so that each call has one of its own.
        func call<Object>(_ make: @escaping () -> Object, _ use: @escaping (Object) -> Void) -> () -> () -> Void {
            {
                let object = make()
                return { use(object) }
            }
        }
        return [
            "Debouncer.call": call(debouncer, { $0.call() }),
            "Debouncer.flush": call(debouncer, { $0.flush() }),
            "Debouncer.cancel": call(debouncer, { $0.cancel() }),
            "Debouncer.invalidate": call(debouncer, { $0.invalidate() }),
            "Throttle.call": call(throttle, { $0.call() }),
            "Throttle.cancel": call(throttle, { $0.cancel() }),
            "Throttle.invalidate": call(throttle, { $0.invalidate() }),
            "WatchdogTimer.feed": call(watchdog, { $0.feed() }),
            "WatchdogTimer.cancel": call(watchdog, { $0.cancel() }),
            "WatchdogTimer.invalidate": call(watchdog, { $0.invalidate() }),
            "DisplayLink.isPaused": call(link, { $0.isPaused = true }),
            "DisplayLink.framesPerSecond": call(link, { $0.framesPerSecond = 1 }),
            "DisplayLink.invalidate": call(link, { $0.invalidate() }),
            "IdleQueue.add": call({ idle }, { $0.add {} }),
            "IdleQueue.cancelAll": call({ idle }, { $0.cancelAll() }),
            "IdleQueue.invalidate": call({ idle }, { $0.invalidate() }),
            "IdleQueue.Job.cancel": call({ idle.add {} }, { $0.cancel() }),
            "NotificationQueue.observe": call({ notifications }, { _ = $0.observe { _ in } }),
            "NotificationQueue.remove": call(
                { (notifications, notifications.observe { _ in }) }, { $0.0.remove($0.1) }),
            "NotificationQueue.post": call({ notifications }, { $0.post(note) }),
            "NotificationQueue.removeWaiting": call({ notifications }, { $0.removeWaiting(like: note, .name) }),
            "NotificationQueue.invalidate": call({ notifications }, { $0.invalidate() }),
            "Transaction.mark": call({ transaction }, { $0.mark($0) {} }),
            "Transaction.group": call({ transaction }, { $0.group {} }),
            "Transaction.flush": call({ transaction }, { $0.flush() }),
            "Transaction.beforeCommit": call({ transaction }, { $0.beforeCommit {} }),
            "Transaction.afterCommit": call({ transaction }, { $0.afterCommit {} }),
            "Transaction.invalidate": call({ transaction }, { $0.invalidate() }),
            "ReleasePool.invalidate": call({ pool }, { $0.invalidate() }),
        ]
    }

    /// Makes the object here, and uses it on another thread.
    static func play(_ name: String) {
        nonisolated(unsafe) let use = calls[name]?() ?? {}
        TestThread.run { use() }
    }
}
