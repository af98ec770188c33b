// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

/// One packet between processes: a header that says what it is, and the bytes of a message.
///
/// The numbers are little-endian, in this order: a mark (4 bytes), the kind (1), nothing (1), how many descriptors come
/// with it (2), the message's id (4), how many bytes follow (4), the serial number of the ask (8), the handle of a
/// reply port (8); in version 2 also the number of the sending thread (4).
///
/// Version 2 is for messages and introductions, to ports that are known to read it. A port that is published says so by
/// the path that its socket was bound to (``PortName/newFile``), and a reply port by the version of its introduction.
/// A port that reads version 2 reads version 1, too.
///
/// A pure value: bytes in, a frame or an error out. Descriptors are counted here; the receiving side holds them.
package struct Frame: Equatable {
    /// The kind of a packet.
    package enum Kind: UInt8, CaseIterable, Sendable {
        /// From a port to a process that has connected: the process is let in. The handle is the length of the longest
        /// message that the port takes, and the serial the most descriptors.
        case welcome = 1
        /// From a port to a process that has connected: the process is not let in.
        case refused = 2
        /// A message; a message with a handle can be answered.
        case message = 3
        /// The answer to a request.
        case reply = 4
        /// Says that there will be no answer to a request.
        case noReply = 5
        /// Introduces a reply port: one descriptor, the port's socket, and the handle that names the port from now on.
        case introduce = 6
        /// Says that a reply port will not be used any more.
        case retire = 7
        /// From a port to a process that has connected: there is no room for the connection. The port lives, and the
        /// process may connect again. Nothing comes after this packet.
        case crowded = 8
    }

    /// The reason why a packet is malformed.
    package enum Malformation: Error, Equatable {
        case short
        case mark
        case kind(UInt8)
        case reserved
        case length
        case tooLong
        case descriptors
        case fields
    }

    /// The size of the header in version 1.
    package static let headerSize = 32
    /// The size of the longest header.
    package static let maxHeaderSize = 36
    /// The mark of a packet; the last byte is the version of the format.
    static let mark: UInt32 = 0x314C_5052
    private static let markOfVersion2: UInt32 = 0x324C_5052

    package var kind: Kind
    package var descriptors: Int
    package var id: Int32
    package var length: Int
    package var serial: UInt64
    package var handle: UInt64
    /// The number that the sending thread has in its own process, unchecked; `nil` in version 1.
    package var thread: Int32?

    package init(
        _ kind: Kind, descriptors: Int = 0, id: Int32 = 0, length: Int = 0, serial: UInt64 = 0, handle: UInt64 = 0,
        thread: Int32? = nil
    ) {
        self.kind = kind
        self.descriptors = descriptors
        self.id = id
        self.length = length
        self.serial = serial
        self.handle = handle
        self.thread = thread
    }

    /// The size of the header.
    package var headerSize: Int { thread == nil ? Self.headerSize : Self.maxHeaderSize }

    // MARK: Reading

    /// Reads the frame at the beginning of a packet that ends with the frame's own bytes.
    ///
    /// - Parameters:
    ///   - packet: All bytes of the packet.
    ///   - received: How many descriptors came with it.
    ///   - longest: The most bytes a message may have.
    ///   - most: The most descriptors a message may have.
    package init(
        reading packet: UnsafeRawBufferPointer, received: Int, longest: Int, most: Int
    ) throws(Malformation) {
        guard packet.count >= Self.headerSize else { throw .short }
        let mark = Self.number(packet, 0, UInt32.self)
        guard mark == Self.mark || mark == Self.markOfVersion2 else { throw .mark }
        guard mark == Self.mark || packet.count >= Self.maxHeaderSize else { throw .short }
        guard let kind = Kind(rawValue: packet[4]) else { throw .kind(packet[4]) }
        guard packet[5] == 0 else { throw .reserved }
        self.kind = kind
        descriptors = Int(Self.number(packet, 6, UInt16.self))
        id = Self.number(packet, 8, Int32.self)
        length = Int(Self.number(packet, 12, UInt32.self))
        serial = Self.number(packet, 16, UInt64.self)
        handle = Self.number(packet, 24, UInt64.self)
        thread = mark == Self.mark ? nil : Self.number(packet, 32, Int32.self)
        guard length == packet.count - headerSize else { throw .length }
        guard length <= longest else { throw .tooLong }
        guard descriptors == received else { throw .descriptors }
        try check(most)
    }

    /// Throws if the frame has contents that its kind may not have.
    private func check(_ most: Int) throws(Malformation) {
        if let thread {
            guard kind == .message || kind == .introduce, thread > 0 else { throw .fields }
        }
        switch kind {
        case .message, .reply:
            guard descriptors <= most else { throw .descriptors }
            // A serial without a handle is an ask that nobody could answer; a reply has the serial of the ask.
            guard kind == .message ? handle != 0 || serial == 0 : serial != 0 else { throw .fields }
        case .introduce:
            guard descriptors == 1 else { throw .descriptors }
            guard length == 0, id == 0, serial == 0, handle != 0 else { throw .fields }
        case .welcome, .refused, .noReply, .retire, .crowded:
            guard descriptors == 0 else { throw .descriptors }
            guard length == 0, id == 0 else { throw .fields }
            switch kind {
            case .noReply: guard serial != 0, handle == 0 else { throw .fields }
            case .retire: guard serial == 0, handle != 0 else { throw .fields }
            case .refused, .crowded: guard serial == 0, handle == 0 else { throw .fields }
            default: guard handle != 0, handle <= 1 << 20, serial <= 253 else { throw .fields }
            }
        }
    }

    private static func number<Number: FixedWidthInteger>(
        _ packet: UnsafeRawBufferPointer, _ offset: Int, _: Number.Type
    ) -> Number {
        Number(littleEndian: packet.loadUnaligned(fromByteOffset: offset, as: Number.self))
    }

    // MARK: Writing

    /// Writes the header to the beginning of `space`.
    ///
    /// - Precondition: there is room for it.
    package func write(to space: UnsafeMutableRawBufferPointer) {
        func put<Number: FixedWidthInteger>(_ number: Number, _ offset: Int) {
            space.storeBytes(of: number.littleEndian, toByteOffset: offset, as: Number.self)
        }
        put(thread == nil ? Self.mark : Self.markOfVersion2, 0)
        put(kind.rawValue, 4)
        put(UInt8(0), 5)
        put(UInt16(truncatingIfNeeded: descriptors), 6)
        put(id, 8)
        put(UInt32(truncatingIfNeeded: length), 12)
        put(serial, 16)
        put(handle, 24)
        if let thread { put(thread, 32) }
    }
}
