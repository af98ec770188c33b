// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

public import Loading
internal import RunLoops

#if canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#endif

/// A log of a server, in a file of its own, which grows with what the server sends and is shown as any other.
///
/// The bytes come to the loop that made it, in the common modes: to the loader's, so that the user's thread writes no file.
public final class RemoteLog: Sendable {
    /// Where a log is: `localhost:PORT/NAME`.
    public struct Address: Hashable, Sendable, CustomStringConvertible {
        /// Where the server listens on this machine.
        public let port: UInt16
        /// The name that is sent to the server.
        public let name: String

        /// The address that a text is; nil if it is none.
        public init?(_ text: String) {
            let parts = text.split(separator: "/", maxSplits: 1)
            guard parts.count == 2, parts[0].hasPrefix("localhost:"), !parts[1].contains("\n"),
                let port = UInt16(parts[0].dropFirst("localhost:".count)), port > 0
            else { return nil }
            (self.port, name) = (port, String(parts[1]))
        }

        /// The directory of the name, with its last stroke.
        public var directory: String { name.lastIndex(of: "/").map { String(name[...$0]) } ?? "" }

        /// The text that it was made of.
        public var description: String { "localhost:\(port)/\(name)" }
    }

    /// Where the log is.
    public let address: Address
    /// The threads that load it, and the pictures that it names.
    public let loader: LoaderThread
    /// The file, which is gone when this is released.
    public let path: String
    private let connection: LoadConnection

    /// Starts to load a log.
    ///
    /// - Throws: The reason, if there can be no file.
    public init(_ address: Address, loader: LoaderThread) throws(LogError) {
        let folder = getenv("TMPDIR").map { String(cString: $0) } ?? "/tmp"
        var template = Array("\(folder)/logs-XXXXXX".utf8CString)
        let descriptor = mkstemp(&template)
        if descriptor < 0 { throw LogError(String(cString: strerror(errno))) }
        _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
        path = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
        (self.address, self.loader) = (address, loader)
        connection = LoadConnection(
            address.name, port: address.port, modes: [.common], loader: loader, delegate: Receiver(descriptor))
        connection.start()
    }

    deinit {
        connection.cancel()
        unlink(path)
    }
}

/// Writes what arrives into the file; the thread that made the log alone uses it.
private final class Receiver: LoadDelegate {
    private let descriptor: CInt

    init(_ descriptor: CInt) { self.descriptor = descriptor }

    deinit { close(descriptor) }

    func connection(_ connection: LoadConnection, didReceive bytes: [UInt8]) { append(bytes) }

    func connectionDidFinish(_ connection: LoadConnection) {}

    func connection(_ connection: LoadConnection, didFailWith error: any Error) {
        // The user looks at the log, and finds the reason there.
        append(Array("\(error)\n".utf8))
    }

    private func append(_ bytes: [UInt8]) {
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { write(descriptor, $0.baseAddress, $0.count) }
            if count < 0, errno == EINTR { continue }
            // The disk is full: the log ends here.
            if count <= 0 { return }
            rest = rest.dropFirst(count)
        }
    }
}
