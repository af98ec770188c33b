// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

#if Log
internal import Logging

/// One line of a log in the journal's native protocol, <https://systemd.io/JOURNAL_NATIVE_PROTOCOL>.
struct JournalEntry {
    private var fields: [(name: String, value: String)]
    /// The names of fields that metadata must not use.
    private static let own: Set<String> = [
        "MESSAGE", "PRIORITY", "LOGGER", "SOURCE", "CODE_FILE", "CODE_LINE", "CODE_FUNC", "ERROR",
    ]

    init(message: String, level: Logger.Level) {
        fields = [("MESSAGE", message), ("PRIORITY", "\(Self.priority(of: level))")]
    }

    mutating func addOwn(_ name: String, _ value: String) { fields.append((name, value)) }

    /// Adds metadata: an array as several fields with the same name, a dictionary as one field for each key, named
    /// `key_` and the dictionary's key.
    mutating func add(_ key: String, _ value: Logger.MetadataValue) {
        switch value {
        case .array(let values): for value in values { add(key, value) }
        case .dictionary(let values):
            for (inner, value) in values.sorted(by: { $0.key < $1.key }) { add("\(key)_\(inner)", value) }
        case .string, .stringConvertible: fields.append((Self.name(key), "\(value)"))
        }
    }

    /// The line as a datagram of the journal's protocol.
    var bytes: [UInt8] {
        var bytes: [UInt8] = []
        for (name, value) in fields {
            bytes += name.utf8
            let text = Array(value.utf8)
            if text.contains(UInt8(ascii: "\n")) {
                bytes.append(UInt8(ascii: "\n"))
                withUnsafeBytes(of: UInt64(text.count).littleEndian) { bytes += $0 }
            } else {
                bytes.append(UInt8(ascii: "="))
            }
            bytes += text
            bytes.append(UInt8(ascii: "\n"))
        }
        return bytes
    }

    /// The line as text for standard error: each line of the message has its priority in front, and the metadata follow
    /// the last line.
    var line: String {
        let rest = fields.dropFirst(2).filter { !Self.own.contains($0.name) }.map { " \($0.name)=\($0.value)" }.joined()
        let lines = (fields[0].value + rest).split(separator: "\n", omittingEmptySubsequences: false)
        return lines.map { "<\(fields[1].value)>\($0)\n" }.joined()
    }

    private static func priority(of level: Logger.Level) -> Int {
        switch level {
        case .trace, .debug: 7
        case .info: 6
        case .notice: 5
        case .warning: 4
        case .error: 3
        case .critical: 2
        }
    }

    /// Returns a valid field name: at most 64 capital letters, digits and underscores, of which the first is a letter.
    private static func name(_ key: String) -> String {
        let name = String(
            key.uppercased().unicodeScalars.map { scalar in
                ("A"..."Z").contains(scalar) || ("0"..."9").contains(scalar) ? Character(scalar) : "_"
            })
        let isFree = name.unicodeScalars.first.map { ("A"..."Z").contains($0) } == true && !own.contains(name)
        return String((isFree ? name : "LOG_\(name)").prefix(64))
    }
}
#endif
