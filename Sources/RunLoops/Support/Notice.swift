internal import Synchronization

/// What is said once in the life of a process, on standard error, because it is a mistake that does no harm.
enum Notice {
    case runInCommonModes

    private static let saidRunInCommonModes = Atomic<Bool>(false)

    func sayOnce() {
        switch self {
        case .runInCommonModes:
            if Self.saidRunInCommonModes.exchange(true, ordering: .relaxed) { return }
            SystemCalls.writeToStandardError(
                """
                RunLoops: a loop was asked to run in the common modes. Common is a mark on modes, not a mode: run in one \
                of them. The run has finished at once; this is said only once.

                """)
        }
    }
}
