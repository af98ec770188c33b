// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

import Foundation

/// What happens in a folder: Foundation and Dispatch have nothing for that on Linux.
@MainActor final class FolderWatch {
    enum Change {
        case file(String)
        case overflow
        case gone
    }

    private let source: any DispatchSourceRead
    private let file: Int32
    private let handler: (Change) -> Void
    private var isCancelled = false

    init(_ path: String, _ handler: @escaping (Change) -> Void) throws {
        file = inotify_init1(Int32(IN_NONBLOCK | IN_CLOEXEC))
        let mask = UInt32(IN_CREATE | IN_MOVED_TO | IN_CLOSE_WRITE | IN_DELETE_SELF | IN_MOVE_SELF)
        guard file >= 0, inotify_add_watch(file, path, mask) >= 0 else {
            throw POSIXError(POSIXErrorCode(rawValue: errno) ?? .EINVAL)
        }
        self.handler = handler
        source = DispatchSource.makeReadSource(fileDescriptor: file, queue: .main)
        source.setCancelHandler { [file] in close(file) }
        source.setEventHandler { [weak self] in MainActor.assumeIsolated { self?.collect() } }
        source.activate()
    }

    func cancel() {
        isCancelled = true
        source.cancel()
    }

    /// A producer that writes a thousand files wakes the daemon twenty times a second, and not for each.
    private func collect() {
        source.suspend()
        DispatchQueue.main.asyncAfter(deadline: .now() + .milliseconds(50)) { [self] in
            if !isCancelled { readAll() }
            source.resume()
        }
    }

    private func readAll() {
        let header = MemoryLayout<inotify_event>.size
        withUnsafeTemporaryAllocation(byteCount: 65536, alignment: 16) { buffer in
            var count = read(file, buffer.baseAddress, buffer.count)
            while count > 0 {
                var place = 0
                while place < count {
                    let event = buffer.load(fromByteOffset: place, as: inotify_event.self)
                    let name = buffer[(place + header)..<(place + header + Int(event.len))].prefix { $0 != 0 }
                    report(event.mask, String(decoding: name, as: UTF8.self))
                    place += header + Int(event.len)
                }
                count = read(file, buffer.baseAddress, buffer.count)
            }
        }
    }

    private func report(_ mask: UInt32, _ name: String) {
        if mask & UInt32(IN_Q_OVERFLOW) != 0 {
            handler(.overflow)
        } else if mask & UInt32(IN_DELETE_SELF | IN_MOVE_SELF) != 0 {
            handler(.gone)
        } else if mask & UInt32(IN_IGNORED) == 0 {
            handler(.file(name))
        }
    }
}
