// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

#if os(Linux) && !EXPORTS_ORIGINALS
internal import Foundation

/// The parts of a message between ports.
enum PortComponents {
    /// The ports of an array and copies of its data, as `NSData`; `nil` if something else is among them.
    ///
    /// Foundation on Linux gives each `NSData` out as `Data`, and copies it one byte at a time for that.
    static func taken(from array: NSMutableArray?) -> [AnyObject]? {
        var parts: [AnyObject] = []
        for element in array ?? [] {
            switch element {
            case let data as Data: parts.append(NSData(data: data))
            case let port as Port: parts.append(port)
            default: return nil
            }
        }
        return parts
    }

    /// The bytes, all at once.
    static func copy(of data: NSData) -> Data { Data(bytes: data.bytes, count: data.length) }
}
#endif
