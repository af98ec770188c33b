extension RunLoop {
    /// Whether the loop's thread has ended, and the loop is torn down.
    package var isEnded: Bool { engine.lock.withLock { engine.isDead } }
}
