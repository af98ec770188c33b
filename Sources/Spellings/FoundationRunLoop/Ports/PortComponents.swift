// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

#if os(Linux) && !EXPORTS_ORIGINALS
internal import Foundation

/// The parts of a message between ports.
enum PortComponents {
    /// Returns the ports of an array and copies of its data, as `NSData`; `nil` if the array has any other element.
    ///
    /// Foundation on Linux would return each `NSData` of the array as `Data`, and copy the bytes one by one.
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

    /// Returns a copy of the bytes, made in one step.
    static func copy(of data: NSData) -> Data { Data(bytes: data.bytes, count: data.length) }
}
#endif
