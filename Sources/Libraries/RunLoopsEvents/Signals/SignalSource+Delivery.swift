// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

internal import CRunLoopsKernel
internal import RunLoopsLibC

extension SignalSource {
    /// One signal, with the details that the kernel gives.
    public struct Delivery: Hashable, Sendable {
        /// The number of the signal, such as `SIGTERM`.
        public let signal: CInt
        /// How many signals this delivery stands for.
        ///
        /// One, or more if signals came so fast that there was no room for each: then the details are those of the last
        /// signal. If a standard signal is sent again before it was delivered, the kernel itself delivers it once.
        public let count: Int
        /// The process that sent the signal; `nil` if the kernel sent it, as it does for Ctrl-C, or if a dispatch
        /// source for the signal exists too.
        public let sender: Sender?
        /// The value that the sender passed to `sigqueue(3)`; 0 for other signals.
        public let value: CInt
        /// The origin of the signal (`si_code`), such as `SI_USER` or `SI_KERNEL`.
        public let code: CInt
    }

    /// The process that sent a signal, and its real user.
    public struct Sender: Hashable, Sendable {
        /// The number of the process; for `SIGCHLD`, of the child.
        public let process: CInt
        /// The number of the process's user.
        public let user: UInt32

        /// Makes a sender, for tests of a closure.
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
