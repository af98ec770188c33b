// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

internal import Synchronization

#if canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#endif

/// An open file, read at any place by any thread.
///
/// It is read in portions and not mapped: when another program cuts a mapped file, the next look at what is gone ends
/// the process (SIGBUS), and `logrotate` with `copytruncate` does just that. A read returns less.
public final class LogFile: Sendable {
    private let descriptor: CInt
    private let reads = Atomic(0)

    /// What tells one file from another, whatever their names are.
    struct Identity: Hashable {
        let device: UInt64
        let number: UInt64
    }

    /// Opens a file.
    ///
    /// - Throws: The reason, if there is no regular file, or it may not be read.
    public init(_ path: String) throws(LogError) {
        // Not to wait for a writer, should it be a pipe.
        let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        if descriptor < 0 { throw LogError(String(cString: strerror(errno))) }
        self.descriptor = descriptor
        guard let status, status.isRegular else { throw LogError("not a regular file") }
    }

    deinit { close(descriptor) }

    private var status: (size: Int, identity: Identity, isRegular: Bool)? {
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { return nil }
        return (Int(status.st_size), Identity(status), status.st_mode & S_IFMT == S_IFREG)
    }

    /// How many bytes the file has now.
    public var size: Int { status?.size ?? 0 }

    /// What tells the file from others; nil if the system does not say.
    var identity: Identity? { status?.identity }

    /// What tells the file at a path from others; nil if there is none.
    static func identity(at path: String) -> Identity? {
        var status = stat()
        return stat(path, &status) == 0 ? Identity(status) : nil
    }

    /// How many bytes were read so far.
    public var bytesRead: Int { reads.load(ordering: .relaxed) }

    /// Fills a buffer from an offset on, as far as the file goes.
    ///
    /// - Returns: How many bytes were read.
    func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int) -> Int {
        var count = 0
        while count < buffer.count, let base = buffer.baseAddress {
            // SAFETY: the rest of the buffer has that many bytes.
            let read = pread(descriptor, base + count, buffer.count - count, off_t(offset + count))
            if read < 0, errno == EINTR { continue }
            if read <= 0 { break }
            count += read
        }
        reads.add(count, ordering: .relaxed)
        return count
    }

    /// The bytes of a range, as far as the file goes.
    public func bytes(_ range: Range<Int>) -> [UInt8] {
        [UInt8](unsafeUninitializedCapacity: range.count) { buffer, count in
            count = read(into: UnsafeMutableRawBufferPointer(buffer), at: range.lowerBound)
        }
    }
}

extension LogFile.Identity {
    fileprivate init(_ status: stat) {
        device = UInt64(status.st_dev)
        number = UInt64(status.st_ino)
    }
}

/// Why a file is not shown, in words.
public struct LogError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The reason.
    public let description: String

    /// An error for that reason.
    public init(_ description: String) { self.description = description }
}
