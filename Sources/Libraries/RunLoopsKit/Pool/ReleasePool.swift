// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

public import RunLoops

extension RunLoop {
    /// Keeps the objects that are handed to it alive until the loop sleeps.
    ///
    /// Made on a loop's thread, it opens a pool whenever a run in one of its modes begins, empties the pool before the
    /// thread sleeps, and closes the pool when the run ends. A nested run has a pool of its own. ``with(_:)`` opens a
    /// pool for a scope. ``hold(_:)`` hands a value to the innermost pool.
    ///
    /// In Swift no code needs a pool to balance references. A pool is for the cases in which the end of a value's life
    /// should come at a known point: a value that a C function still points to until the turn is over, or a costly
    /// release that should not happen in the middle of a callout.
    ///
    /// Corresponds to the autorelease pools that Apple's frameworks put around the turns of a run loop.
    ///
    /// The object receives its modes when it is made. It works until it is invalidated or released.
    ///
    /// Thread safety: belongs to the thread that makes it.
    public final class ReleasePool {
        /// The order of the observer that opens pools: before all others.
        public static let openingOrder = -2_147_483_647
        /// The order of the observer that empties and closes pools: after all others.
        public static let closingOrder = 2_147_483_647

        private let loop = RunLoop.current
        private let observers = OwnedObservers()

        /// Puts pools around the turns of the calling thread's loop.
        ///
        /// - Parameter modes: The modes whose runs have pools.
        public init(in modes: [RunLoop.Mode] = [.common]) {
            // The depths of the pools that were opened by runs, innermost last.
            let runs = Runs()
            observers.add(.entry, order: Self.openingOrder, in: modes, label: "release pool opens") { _ in
                let stack = PoolStack.current
                stack.open()
                runs.depths.append(stack.depth)
            }
            observers.add([.beforeWaiting, .exit], order: Self.closingOrder, in: modes, label: "release pool empties") {
                activity in
                // Added during the run: its entry was not seen.
                guard let depth = runs.depths.last else { return }
                let level = runs.depths.count
                let stack = PoolStack.current
                if activity == .exit { stack.close(depth) } else { stack.empty(depth) }
                // An object that ran the loop as it died: this observer was not called at the end of that run.
                runs.depths.removeLast(runs.depths.count - level + (activity == .exit ? 1 : 0))
            }
        }

        private final class Runs {
            var depths: [Int] = []
        }

        /// Ends the pools permanently: later runs open none.
        ///
        /// Inside a run the pool of that run stays open: call this where no run is in progress. A second call does
        /// nothing.
        public func invalidate() {
            loop.requireOwn("release pool")
            observers.invalidate()
        }

        // MARK: Handing over

        /// Hands an object to the innermost pool of the calling thread, and returns it.
        ///
        /// Corresponds to `autorelease`.
        /// - Precondition: the thread has an open pool; otherwise the call traps, where `autorelease` would leak.
        /// - Complexity: O(1) amortised.
        @discardableResult
        public static func hold<Object: AnyObject>(_ object: Object) -> Object {
            let stack = PoolStack.current
            require(
                stack.depth > 0,
                "An object of type \(Object.self) was handed over where no release pool is open: make a ReleasePool on this thread before its loop runs, or use ReleasePool.with."
            )
            stack.hold(object)
            return object
        }

        /// Opens a pool for the time of `body`, and empties the pool at the end, also when `body` throws.
        ///
        /// Corresponds to `autoreleasepool`.
        public static func with<Result, Failure: Error>(
            _ body: () throws(Failure) -> Result
        ) throws(Failure) -> Result {
            let stack = PoolStack.current
            stack.open()
            let depth = stack.depth
            defer { stack.close(depth) }
            return try body()
        }

        // MARK: Counting

        /// How many objects the pools of the calling thread hold.
        public static var count: Int { PoolStack.current.count }

        /// How many pools of the calling thread are open, one inside the other.
        public static var depth: Int { PoolStack.current.depth }

        /// The most objects that the pools of the calling thread ever held at once.
        public static var highWaterMark: Int { PoolStack.current.highWaterMark }

        /// Sets the high-water mark to the number of objects that are held now.
        public static func resetHighWaterMark() { PoolStack.current.resetHighWaterMark() }
    }
}
