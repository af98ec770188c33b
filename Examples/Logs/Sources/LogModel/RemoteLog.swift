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
    /// Where a log is: an address of `http` or `https`.
    public struct Address: Hashable, Sendable, CustomStringConvertible {
        /// The whole address.
        public let url: String

        /// The address that a text is; nil if it is a name of a file.
        public init?(_ text: String) {
            let parts = text.split(separator: "/", maxSplits: 3, omittingEmptySubsequences: false)
            guard parts.count == 4, ["http:", "https:"].contains(parts[0]), parts[1].isEmpty, !parts[2].isEmpty,
                !parts[3].isEmpty
            else { return nil }
            url = text
        }

        /// The address of the log's folder, with its last stroke.
        public var directory: String { url.lastIndex(of: "/").map { String(url[...$0]) } ?? "" }

        /// The address.
        public var description: String { url }
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
            address.url, modes: [.common], loader: loader, delegate: Receiver(descriptor))
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

    func connection(_ connection: LoadConnection, didReceive response: LoadResponse) {
        if response.status >= 400 { append(Array("The server answers with status \(response.status).\n".utf8)) }
    }

    func connection(_ connection: LoadConnection, didReceive bytes: [UInt8]) { append(bytes) }

    func connectionDidFinish(_ connection: LoadConnection) {}

    func connection(_ connection: LoadConnection, didFailWith error: LoadError) {
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
