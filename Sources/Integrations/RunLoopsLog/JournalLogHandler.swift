// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

#if Log
internal import CRunLoopsKernel
public import Logging
internal import RunLoops
internal import RunLoopsLibC

/// Writes the lines of swift-log to systemd's journal, with their metadata as fields.
///
/// ```swift
/// LoggingSystem.bootstrap { label in JournalLogHandler(label: label) }
/// ```
///
/// `journalctl -o verbose` shows the fields, and `journalctl KIND=timer` looks for one of them.
///
/// | Field | |
/// |---|---|
/// | `MESSAGE` | the message |
/// | `PRIORITY` | 7 for trace and debug, 6 info, 5 notice, 4 warning, 3 error, 2 critical |
/// | `LOGGER`, `SOURCE` | the logger's label; the module that logs |
/// | `CODE_FILE`, `CODE_LINE`, `CODE_FUNC` | where |
/// | `ERROR` | the error of the line, if it has one |
/// | any other | the metadata: `duration_ms` is `DURATION_MS`; an array is a field for each element |
///
/// A name that the journal does not accept, or that is one of the fields above, gets the prefix `LOG_`. A line is one
/// datagram, and the call never waits. If the journal does not run or is full, or if the line is longer than a datagram,
/// the line is written to standard error instead, with `<PRIORITY>` in front, which systemd understands there.
///
/// Thread safety: a value; any thread.
public struct JournalLogHandler: LogHandler {
    /// The lowest level that is logged.
    public var logLevel: Logger.Level = .info
    /// The metadata of every line of the logger.
    public var metadata: Logger.Metadata = [:]
    /// Provides further metadata for a line, from the task that logs the line.
    public var metadataProvider: Logger.MetadataProvider?
    private let label: String
    private let address: JournalAddress?
    private let fallback: CInt

    /// Makes a handler for a logger.
    ///
    /// - Parameters:
    ///   - label: The logger's label.
    ///   - path: The path of the journal's socket. If the path is too long for a socket, all lines go to `fallback`.
    ///   - fallback: The descriptor for lines that the journal does not accept; the default is standard error.
    public init(label: String, path: String = "/run/systemd/journal/socket", fallback: CInt = 2) {
        self.label = label
        self.fallback = fallback
        address = JournalAddress(path)
    }

    /// The value with this key in the metadata of every line.
    public subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    /// Writes a line.
    public func log(event: LogEvent) {
        var entry = JournalEntry(message: "\(event.message)", level: event.level)
        entry.addOwn("LOGGER", label)
        entry.addOwn("SOURCE", event.source)
        entry.addOwn("CODE_FILE", event.file)
        entry.addOwn("CODE_LINE", "\(event.line)")
        entry.addOwn("CODE_FUNC", event.function)
        if let error = event.error { entry.addOwn("ERROR", "\(error)") }
        var all = metadata
        if let provided = metadataProvider?.get() { all.merge(provided) { $1 } }
        if let own = event.metadata { all.merge(own) { $1 } }
        for (key, value) in all.sorted(by: { $0.key < $1.key }) { entry.add(key, value) }
        if address?.send(entry.bytes) == true { return }
        let line = Array(entry.line.utf8)
        // Its error has no other place to go.
        _ = line.withUnsafeBytes { write(fallback, $0.baseAddress, $0.count) }
    }
}

/// The address of the journal's socket.
private struct JournalAddress: Sendable {
    private let bytes: [UInt8]

    init?(_ path: String) {
        var storage = [UInt8](repeating: 0, count: Int(RL_ADDRESS_ROOM))
        var path = path
        let length = path.withUTF8 { rl_address_unix(&storage, $0.baseAddress, $0.count) }
        if length < 0 { return nil }
        bytes = Array(storage.prefix(Int(length)))
    }

    /// Sends a datagram; returns whether the system has accepted it.
    func send(_ datagram: [UInt8]) -> Bool {
        rl_datagram_send(bytes, UInt32(bytes.count), datagram, datagram.count, nil, 0) == 0
    }
}
#else
// With the members of the real one, as LoopLog.
/// Lines of swift-log in systemd's journal; with the trait `Log` alone.
@available(
    *, unavailable,
    message: "Enable the trait Log of swift-run-loops: .package(url: …, traits: [\"Log\"])"
)
public struct JournalLogHandler: Sendable {
    /// Unavailable without the package trait `Log`.
    public init(label: String, path: String = "/run/systemd/journal/socket", fallback: CInt = 2) {
        fatalError("The compiler refuses each call of this.")
    }
}
#endif
