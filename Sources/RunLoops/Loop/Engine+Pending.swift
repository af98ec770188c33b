extension Engine {
    /// How much the loop was given to do and has not taken up: blocks posted by other threads, sources signalled.
    ///
    /// Any thread. Complexity: O(n) in the sources.
    package var pendingCount: Int {
        lock.withLock {
            var signalled: Set<ObjectIdentifier> = []
            for mode in modes {
                for (identifier, entry) in mode.sources where entry.source.isSignalled { signalled.insert(identifier) }
            }
            return signalled.count + blocks.incomingCount
        }
    }
}
