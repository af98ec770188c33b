extension RunLoop {
    /// Whether the loop's thread has ended, and the loop is torn down.
    package var isEnded: Bool { engine.lock.withLock { engine.isDead } }

    /// Whether work of the main queue, such as a job of the main actor, is under way on the main loop.
    ///
    /// The loop's thread.
    package var isInMainQueue: Bool { engine.isInMainQueue }
}
