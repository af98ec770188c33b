/// What a loop does, as it does it: for recorders and diagnostics.
package enum LoopEvent: Sendable {
    /// A run begins in the mode.
    case runBegins(RunLoop.Mode)
    /// A point of the run is passed, whether anybody observes it or not.
    case passes(RunLoop.Activities)
    /// A callout begins; the item's label, or the place where a block was added.
    case calls(Callee, ItemLabel)
    /// Of the callout that has just begun: since when it was wanted.
    ///
    /// Told where it is known, before the user's closure.
    case wanted(LoopWait)
    /// The innermost callout has returned.
    case returns
    /// The thread goes to sleep: all that wanted to be told before has been.
    case sleeps
    /// The thread is awake again; told before the observers of that are.
    case wakes(LoopWaking)
    /// The innermost run ends.
    case runEnds(RunLoop.RunResult)

    /// Kinds of callouts.
    package enum Callee: String, Sendable {
        case observer, block, source, port, timer
        case mainQueue = "main queue"
        /// A part of another callout that somebody queued by itself.
        case job
    }
}

/// Is told of each event, on the loop's thread, with no lock held.
package protocol LoopTracer: AnyObject {
    func trace(_ event: LoopEvent)
}
