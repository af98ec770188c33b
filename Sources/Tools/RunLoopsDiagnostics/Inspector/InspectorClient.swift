// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

internal import CRunLoopsKernel
package import RunLoops
internal import RunLoopsLibC
internal import RunLoopsSystem

/// A connection to an inspected process of the same user.
///
/// Thread safety: one thread at a time. A member waits only if its description says so.
package final class InspectorClient {
    /// The reason why an inspected process gave no answer.
    package enum Failure: Error, CustomStringConvertible {
        /// The process refuses this user, or does not know the request; the text is the process's own message.
        case refused(String)
        /// The process did not answer in time.
        case silent
        /// The process has closed the connection or has ended.
        case gone
        /// The process sent bytes that are not an answer.
        case garbled
        /// The error with which the system refused a call.
        case system(RunLoop.SystemCallError)

        package var description: String {
            switch self {
            case .refused(let why): "refused: \(why)"
            case .silent: "no answer"
            case .gone: "the process has ended"
            case .garbled: "its answer makes no sense"
            case .system(let error): "\(error)"
            }
        }
    }

    /// The number of the inspected process, as this process sees it.
    package let process: Int32
    private let socket: PrivateDescriptor
    private var received: [UInt8] = []
    private var head: (isAnswer: Bool, length: Int)?

    /// The descriptor of the connection, which is readable when there is something to ``receive()``.
    package var descriptor: CInt { socket.number }

    init(_ socket: PrivateDescriptor) throws(Failure) {
        var peer = rl_peer()
        let result = rl_port_peer(socket.number, &peer)
        if result < 0 { throw .system(.init(call: "getsockopt", code: -result)) }
        // In a directory that was checked nobody else listens; but what is certain need not be argued.
        if peer.user != rl_port_user() { throw .refused("it is a process of user \(peer.user)") }
        self.socket = socket
        process = peer.process
    }

    // The process ends what it does for this client, also while a child of this process has a copy of the socket.
    deinit { _ = rl_end_connection(socket.number) }

    // MARK: Finding processes

    /// All inspected processes of this user but this one, by number.
    package static func all() -> [InspectorClient] {
        connections { _ in true }.filter { $0.process != getpid() }.sorted { $0.process < $1.process }
    }

    /// Connects to the process with this number; `nil` if the process does not exist, is not inspected or belongs to
    /// another user.
    package static func find(_ process: Int32) -> InspectorClient? {
        // The number in the name first; from inside another namespace, the process has another one.
        let named = connections { $0 == process }.first { $0.process == process }
        return named ?? connections { $0 != process }.first { $0.process == process }
    }

    /// Connects to the inspected processes whose own numbers `isWanted` accepts; leaves out processes that do not
    /// answer.
    private static func connections(_ isWanted: (pid_t) -> Bool) -> [InspectorClient] {
        InspectorDirectory.candidates.flatMap { path -> [InspectorClient] in
            guard let directory = try? InspectorDirectory(path, makes: false) else { return [] }
            defer { directory.tidy() }
            return directory.names().filter { isWanted($0.process) }
                .compactMap { try? InspectorClient(directory.connect($0.name)) }
        }
    }

    // MARK: Sending and receiving

    func send(_ request: InspectorProtocol.Request) throws(Failure) {
        let line = Array(request.line.utf8)
        received = []
        head = nil
        let result = rl_inspect_send(socket.number, line, line.count)
        // Refused and closed: the reason is still to be read.
        if result == -EPIPE || result == -ECONNRESET { return }
        // A request always has room, unless the process has not read the ones before.
        if result != line.count { throw result < 0 && result != -EAGAIN ? .gone : .silent }
    }

    /// Returns the answer if it has arrived completely; otherwise `nil`.
    ///
    /// Does not wait.
    func receive() throws(Failure) -> [UInt8]? {
        while true {
            if let body = try takeAnswer() { return body }
            let got = withUnsafeTemporaryAllocation(byteCount: 1 << 16, alignment: 1) { space -> CInt in
                let got = rl_inspect_receive(socket.number, space.baseAddress, space.count)
                if got > 0 { received += space[..<Int(got)] }
                return got
            }
            if got == -EAGAIN { return nil }
            if got <= 0 { throw .gone }
        }
    }

    private func takeAnswer() throws(Failure) -> [UInt8]? {
        if head == nil {
            guard let end = received.firstIndex(of: UInt8(ascii: "\n")) else {
                if received.count > InspectorProtocol.maxHeadLength { throw .garbled }
                return nil
            }
            guard let head = InspectorProtocol.head(received[..<end]) else { throw .garbled }
            received.removeSubrange(...end)
            self.head = head
        }
        guard let head, received.count >= head.length else { return nil }
        if received.count > head.length { throw .garbled }
        let body = received
        received = []
        self.head = nil
        if !head.isAnswer { throw .refused(String(decoding: body, as: UTF8.self)) }
        return body
    }

    /// Waits for the answer until `deadline`, in nanoseconds of the monotonic clock, and returns it.
    func answer(until deadline: Int64) throws(Failure) -> [UInt8] {
        while true {
            if let body = try receive() { return body }
            if rl_port_wait(socket.number, Int16(POLLIN), deadline) == 0 { throw .silent }
        }
    }

    func ask(_ request: InspectorProtocol.Request, within limit: Duration) throws(Failure) -> [UInt8] {
        try send(request)
        return try answer(until: Self.deadline(limit))
    }

    package static func deadline(_ limit: Duration) -> Int64 {
        SystemCalls.now(.monotonic) + limit.clampedNanoseconds
    }

    // MARK: Asking

    /// Requests a report on the present state of each loop; ``takeReport(until:)`` returns the answer.
    package func requestLoops() throws(Failure) { try send(.loops) }

    /// Requests a report on each loop with its statistics, which are counted from the first such request on.
    ///
    /// ``takeReport(until:)`` returns the answer.
    package func requestStatistics() throws(Failure) { try send(.statistics) }

    /// Waits for the answer to the last request until `deadline`, in nanoseconds of the monotonic clock, and returns it.
    package func takeReport(until deadline: Int64) throws(Failure) -> ProcessReport {
        try report(answer(until: deadline))
    }

    /// Returns the answer if it has arrived, or `nil`; does not wait.
    package func takeReport() throws(Failure) -> ProcessReport? {
        guard let bytes = try receive() else { return nil }
        return try report(bytes)
    }

    /// Requests a complete report on each loop, with its description and its next timers, and waits for the answer.
    package func dump(within limit: Duration) throws(Failure) -> ProcessReport {
        try report(ask(.dump, within: limit))
    }

    /// Requests the tasks of the process, which reads them itself, and waits for the answer.
    ///
    /// - Returns: The document and the lines of the process's ``TaskReport``.
    package func tasks(within limit: Duration) throws(Failure) -> (document: JSON, lines: [String]) {
        let text = String(decoding: try ask(.tasks, within: limit), as: UTF8.self)
        guard let json = try? JSON(parsing: text), let document = json["report"],
            let lines = json["lines"]?.array?.compactMap(\.string)
        else { throw .garbled }
        return (document, lines)
    }

    private func report(_ bytes: [UInt8]) throws(Failure) -> ProcessReport {
        let text = String(decoding: bytes, as: UTF8.self)
        guard let json = try? JSON(parsing: text), var report = ProcessReport(json: json) else { throw .garbled }
        // The number in the text is the process's own idea.
        report.process = process
        return report
    }

    // MARK: Recording

    /// The maximum number of events that a recording keeps of one loop.
    package static let maxEvents = 1 << 20

    /// Begins a recording in the process; it ends with ``takeRecording(within:)``, or with the connection.
    ///
    /// - Parameter capacity: The number of events that are kept for each loop.
    package func record(capacity: Int = 65_536, within limit: Duration) throws(Failure) {
        _ = try ask(.record(capacity: capacity), within: limit)
    }

    /// Ends the recording and returns it as the JSON of ``RunLoops/RunLoop/Trace/chromeJSON()``.
    ///
    /// If the recording is longer than the longest possible answer, the oldest events are left out.
    package func takeRecording(within limit: Duration) throws(Failure) -> String {
        String(decoding: try ask(.recorded, within: limit), as: UTF8.self)
    }
}
