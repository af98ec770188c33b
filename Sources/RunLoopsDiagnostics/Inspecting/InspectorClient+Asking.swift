// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

/// What tools ask.
package import RunLoops

extension InspectorClient {
    /// Asks for what each loop is about; the answer is taken by ``takeReport(until:)``.
    package func requestLoops() throws(Failure) { try send(.loops) }

    /// The same with what is counted from the first such request on.
    package func requestStatistics() throws(Failure) { try send(.statistics) }

    /// The answer to what was requested; waits for it until `deadline` of the monotonic clock.
    package func takeReport(until deadline: Int64) throws(Failure) -> ProcessReport {
        try report(answer(until: deadline))
    }

    /// The answer, if it has come; does not wait.
    package func takeReport() throws(Failure) -> ProcessReport? {
        guard let bytes = try receive() else { return nil }
        return try report(bytes)
    }

    /// Everything there is to know of each loop.
    package func dump(within limit: Duration) throws(Failure) -> ProcessReport {
        try report(ask(.dump, within: limit))
    }

    private func report(_ bytes: [UInt8]) throws(Failure) -> ProcessReport {
        guard let report = ProcessReport(try json(bytes), process: process) else { throw .garbled }
        return report
    }

    private func json(_ bytes: [UInt8]) throws(Failure) -> JSON {
        do { return try JSON(String(decoding: bytes, as: UTF8.self)) } catch { throw .garbled }
    }

    // MARK: Recording

    /// Begins a recording in the process; it ends with ``takeRecording(within:)``, or with the connection.
    ///
    /// - Parameter capacity: How many events are kept of each loop.
    package func record(capacity: Int = 65_536, within limit: Duration) throws(Failure) {
        _ = try ask(.record(capacity: capacity), within: limit)
    }

    /// Ends the recording and takes it over.
    package func takeRecording(within limit: Duration) throws(Failure) -> RunLoop.Trace {
        guard var trace = TraceTransfer.trace(try json(ask(.recorded, within: limit)), process: process) else {
            throw .garbled
        }
        for index in trace.loops.indices {
            guard let events = TraceTransfer.decode(try ask(.events(loop: index), within: limit)) else {
                throw .garbled
            }
            trace.loops[index].events = events
        }
        return trace
    }
}
