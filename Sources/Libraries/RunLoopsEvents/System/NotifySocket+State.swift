// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

internal import RunLoops

extension NotifySocket {
    /// A state that is reported to the service manager; see `sd_notify(3)`.
    public struct State: Hashable, Sendable {
        /// The name, such as `READY`.
        public let name: String
        /// The value, such as `1`.
        public let value: String

        /// Any other state, such as `X_…` for tools that look at the service.
        public static func custom(_ name: String, _ value: String) -> State { State(name: name, value: value) }

        /// The service has started, or has its new configuration: `READY=1`.
        public static var ready: State { State(name: "READY", value: "1") }
        /// The service reads its configuration again: `RELOADING=1`, with the time (`MONOTONIC_USEC`) at which it is sent.
        ///
        /// ``ready`` ends it. With `Type=notify-reload` systemd sends `SIGHUP` and waits for both.
        public static var reloading: State { State(name: "RELOADING", value: "1") }
        /// The service is ending: `STOPPING=1`.
        public static var stopping: State { State(name: "STOPPING", value: "1") }
        /// One line for people, which `systemctl status` shows: `STATUS=`.
        public static func status(_ text: String) -> State { State(name: "STATUS", value: text) }
        /// The error for which the service fails: `ERRNO=`.
        public static func errno(_ number: CInt) -> State { State(name: "ERRNO", value: "\(number)") }
        /// The service's main process, if the service manager did not start it: `MAINPID=`.
        public static func mainPID(_ process: CInt) -> State { State(name: "MAINPID", value: "\(process)") }
        /// The service needs this much time from now on to start, reload or stop: `EXTEND_TIMEOUT_USEC=`.
        public static func extendTimeout(_ time: Duration) -> State {
            State(name: "EXTEND_TIMEOUT_USEC", value: time.inMicroseconds)
        }

        /// The service is alive: `WATCHDOG=1`; ``NotifySocket/watchdogTimer(label:onFailure:)`` sends this.
        public static var watchdog: State { State(name: "WATCHDOG", value: "1") }
        /// The service has failed, as if it had sent no ``watchdog`` for too long: `WATCHDOG=trigger`.
        public static var watchdogTrigger: State { State(name: "WATCHDOG", value: "trigger") }
        /// A new interval of the watchdog: `WATCHDOG_USEC=`.
        public static func watchdogInterval(_ interval: Duration) -> State {
            State(name: "WATCHDOG_USEC", value: interval.inMicroseconds)
        }

        /// The service manager keeps the descriptors that are sent along, and passes them to the service's next start:
        /// `FDSTORE=1`.
        ///
        /// They arrive as ``ListenDescriptor``s there.
        public static var fdStore: State { State(name: "FDSTORE", value: "1") }
        /// The service manager closes the stored descriptors with the ``fdName(_:)`` that is sent along: `FDSTOREREMOVE=1`.
        public static var fdStoreRemove: State { State(name: "FDSTOREREMOVE", value: "1") }
        /// The name of stored descriptors, of up to 255 characters of ASCII and without a colon: `FDNAME=`.
        public static func fdName(_ name: String) -> State { State(name: "FDNAME", value: name) }

        /// The lines of the datagram.
        func lines() throws(ServiceManagerError) -> [String] {
            let isNamed = !name.isEmpty && name.utf8.allSatisfy { $0 > UInt8(ascii: " ") && $0 != UInt8(ascii: "=") }
            let isOneLine = !value.utf8.contains { $0 == UInt8(ascii: "\n") || $0 == 0 }
            guard isNamed, isOneLine, isDescriptorNameOrOther, !value.hasPrefix("-") || !name.hasSuffix("_USEC") else {
                throw .state(name: name, value: value)
            }
            let line = "\(name)=\(value)"
            if self != .reloading { return [line] }
            let time = Duration.nanoseconds(SystemCalls.now(.monotonic))
            return [line, "MONOTONIC_USEC=\(time.inMicroseconds)"]
        }

        private var isDescriptorNameOrOther: Bool {
            name != "FDNAME"
                || (1...255).contains(value.utf8.count)
                    && value.utf8.allSatisfy { (0x20..<0x7F).contains($0) && $0 != UInt8(ascii: ":") }
        }
    }
}

extension Duration {
    /// Whole microseconds, in the digits of the datagram.
    fileprivate var inMicroseconds: String { "\(Int64(clamping: Int128(attoseconds / 1_000_000_000_000)))" }
}
