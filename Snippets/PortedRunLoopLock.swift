// A lock that waits for a callback and keeps the loop running, as tests of reactive libraries have it.

import FoundationRunLoop

/// Runs the loop that made it until `unlock`, from any thread, or until its time is over.
final class RunLoopLock: @unchecked Sendable {
    private let loop = CFRunLoopGetCurrent()
    private let mode = CFRunLoopMode.defaultMode
    private let timeout: TimeInterval?

    init(timeout: TimeInterval? = nil) { self.timeout = timeout }

    func dispatch(_ action: @escaping () -> Void) {
        CFRunLoopPerformBlock(loop, mode.rawValue, action)
        CFRunLoopWakeUp(loop)
    }

    func unlock() {
        CFRunLoopPerformBlock(loop, mode.rawValue) { CFRunLoopStop(self.loop) }
        CFRunLoopWakeUp(loop)
    }

    /// Whether somebody unlocked.
    func lock() -> Bool {
        // A mode with nothing in it would end the run at once.
        let keeper = CFRunLoopTimerCreateWithHandler(kCFAllocatorDefault, .infinity, 0, 0, 0) { _ in }
        CFRunLoopAddTimer(loop, keeper, mode)
        defer { CFRunLoopTimerInvalidate(keeper) }
        switch CFRunLoopRunInMode(mode, timeout ?? .greatestFiniteMagnitude, false) {
        case .stopped: return true
        case .timedOut: return false
        case .finished, .handledSource: fatalError("the mode has a timer, and the run does not return after a source")
        @unknown default: fatalError("there are four results")
        }
    }
}

let lock = RunLoopLock(timeout: 60)
lock.dispatch {
    DispatchQueue.global().async {
        print("called back")
        lock.unlock()
    }
}
print("unlocked: \(lock.lock())")
print("unlocked in time: \(RunLoopLock(timeout: 0.01).lock())")
