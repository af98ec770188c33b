// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

/// The protocol between an inspector and its clients.
///
/// A request is one line of text. An answer is one line, followed by the number of bytes that the line states:
///
///     runloop-inspect/3 dump
///     runloop-inspect/3 ok 5120
///     {"process":…}
///
/// Each line begins with the version. A side that does not know the other side's version says so, in words of its own
/// version. The statistics and recordings that a client requests belong to its connection, and end with it.
enum InspectorProtocol {
    static let version = "runloop-inspect/3"

    /// The maximum length of a request in bytes, including its line feed.
    static let maxRequestLength = 256
    /// The maximum length of an answer's first line, in bytes.
    static let maxHeadLength = 64
    /// The maximum length of an answer in bytes; a client rejects a longer one.
    static let maxAnswerLength = 256 << 20
    /// The maximum length of one loop's description in bytes; a longer description is cut off, and its end says how
    /// much is missing.
    static let maxDescriptionLength = 1 << 20

    /// The requests of a client.
    enum Request: Equatable {
        /// Requests the present state of each loop.
        case loops
        /// Requests the present state of each loop, with its description and its next timers.
        case dump
        /// Requests the tasks of the process, and what each of them waits for.
        case tasks
        /// Requests the present state of each loop, with its counts since the first such request on the connection.
        case statistics
        /// Begins a recording that keeps `capacity` events of each loop.
        case record(capacity: Int)
        /// Ends the recording and requests it as the JSON of a trace.
        case recorded

        /// The maximum number of events that a recording keeps of one loop.
        static let maxEvents = InspectorClient.maxEvents

        var text: String {
            switch self {
            case .loops: "loops"
            case .dump: "dump"
            case .tasks: "tasks"
            case .statistics: "statistics"
            case .record(let capacity): "record \(capacity)"
            case .recorded: "recorded"
            }
        }

        var line: String { "\(InspectorProtocol.version) \(text)\n" }

        /// Parses a request from a line without its line feed.
        init(_ line: some Collection<UInt8>) throws(Refusal) {
            let words = String(decoding: line, as: UTF8.self).split(separator: " ", omittingEmptySubsequences: false)
            guard let version = words.first, version == InspectorProtocol.version else {
                throw Refusal("this program speaks \(InspectorProtocol.version)")
            }
            let text = words.dropFirst().joined(separator: " ")
            if let plain = [Self.loops, .dump, .tasks, .statistics, .recorded].first(where: { $0.text == text }) {
                self = plain
            } else if words.count == 3, words[1] == "record" {
                guard let number = Int(words[2]), 1...Self.maxEvents ~= number else {
                    throw Refusal("a recording has 1 to \(Self.maxEvents) events")
                }
                self = .record(capacity: number)
            } else {
                throw Refusal("unknown request")
            }
        }
    }

    /// The reason why a request is refused.
    struct Refusal: Error, Equatable, CustomStringConvertible {
        let description: String
        init(_ description: String) { self.description = description }
    }

    /// Returns the bytes of an answer as they are sent.
    static func answer(_ result: Result<[UInt8], Refusal>) -> [UInt8] {
        switch result {
        case .success(let body): Array("\(version) ok \(body.count)\n".utf8) + body
        case .failure(let refusal):
            Array("\(version) no \(refusal.description.utf8.count)\n\(refusal.description)".utf8)
        }
    }

    /// Parses the first line of an answer: whether the request succeeded, and how many bytes follow; `nil` for other
    /// text.
    static func head(_ line: some Collection<UInt8>) -> (isAnswer: Bool, length: Int)? {
        let words = String(decoding: line, as: UTF8.self).split(separator: " ", omittingEmptySubsequences: false)
        guard words.count == 3, words[0] == version, words[1] == "ok" || words[1] == "no",
            let length = Int(words[2]), 0...maxAnswerLength ~= length
        else { return nil }
        return (words[1] == "ok", length)
    }
}
