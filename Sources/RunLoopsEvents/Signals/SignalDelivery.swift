internal import CLinuxKernel

#if canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#endif

extension SignalSource {
    /// One signal, with what the kernel says of it.
    public struct Delivery: Hashable, Sendable {
        /// The number of the signal, such as `SIGTERM`.
        public let signal: CInt
        /// How many signals this stands for.
        ///
        /// One, or more if signals came so fast that there was no room for each: then what is said is of the last of them.
        /// The kernel itself gives a standard signal once if it is sent again before it was delivered.
        public let count: Int
        /// Who sent it; `nil` if it was the kernel, as it is for Ctrl-C.
        public let sender: Sender?
        /// The number that `sigqueue(3)` sent along; 0 with any other.
        public let value: CInt
        /// Where it came from (`si_code`), such as `SI_USER` or `SI_KERNEL`.
        public let code: CInt
    }

    /// The process that sent a signal, and its real user.
    public struct Sender: Hashable, Sendable {
        /// The number of the process; for `SIGCHLD`, of the child.
        public let process: CInt
        /// The number of its user.
        public let user: UInt32

        /// A sender, for tests of what a closure does with one.
        public init(process: CInt, user: UInt32) {
            self.process = process
            self.user = user
        }
    }
}

extension SignalSource.Delivery {
    init(_ signal: CInt, _ record: rl_signal_record) {
        self.signal = signal
        count = Int(clamping: record.missed) + 1
        sender = record.sender > 0 ? SignalSource.Sender(process: record.sender, user: record.user) : nil
        value = record.value
        code = record.code
    }
}
