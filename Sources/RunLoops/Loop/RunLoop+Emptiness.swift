extension RunLoop {
    /// Whether a run in `mode` has nothing to wait for: neither item nor main queue.
    ///
    /// For an observer that takes the last item out before the sleep, and has to make the turn that ends the run.
    package func hasNoItems(in mode: Mode) -> Bool {
        engine.lock.withLock {
            guard let state = engine.existingMode(mode) else { return true }
            return state.hasNoItems && !(engine.mainQueue != nil && state.isCommon)
        }
    }
}
