// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

#if os(Linux) && !EXPORTS_ORIGINALS
internal import Foundation

/// A message between socket ports as bytes, in the format of Foundation's own SocketPort.
///
/// A message begins with four bytes that identify the format, the length of the whole message, the number of the
/// message and the signature of the port for answers. The parts follow, each with its kind and length. Numbers are
/// big-endian.
struct SocketFrame {
    /// The maximum length of a message in bytes; senders and receivers refuse longer messages, so that another program
    /// cannot fill this program's memory.
    static let maxBytes = 1 << 26
    private static let magic: UInt32 = 0xD0CF_50C0
    private static let headerCount = 12

    enum Part: Equatable {
        case data(Data)
        case port(SocketSignature)
    }

    let number: UInt32
    /// The signature of the port for answers.
    let sender: SocketSignature
    let parts: [Part]

    /// The message as bytes; `nil` if the message is too long, or a signature cannot be encoded.
    var bytes: Data? {
        guard let signature = sender.wire else { return nil }
        var rest = signature
        for part in parts {
            let (kind, data): (UInt32, Data?) =
                switch part {
                case .data(let data): (1, data)
                case .port(let signature): (2, signature.wire)
                }
            guard let data, rest.count + data.count <= Self.maxBytes else { return nil }
            for piece in [Self.bytes(of: kind), Self.bytes(of: UInt32(data.count)), data] { rest.append(piece) }
        }
        let count = Self.headerCount + rest.count
        guard count <= Self.maxBytes else { return nil }
        var all = Data(capacity: count)
        for piece in [Self.bytes(of: Self.magic), Self.bytes(of: UInt32(count)), Self.bytes(of: number), rest] {
            all.append(piece)
        }
        return all
    }

    init(number: UInt32, sender: SocketSignature, parts: [Part]) {
        (self.number, self.sender, self.parts) = (number, sender, parts)
    }

    /// Returns the length in bytes of the message that begins with `data`: `nil` if `data` is not the beginning of a
    /// message, 0 if more bytes are needed to know the length.
    static func count(beginning data: Data) -> Int? {
        guard data.count >= 8 else { return 0 }
        let count = Int(number(in: data, at: 4))
        return number(in: data, at: 0) == magic && (headerCount...maxBytes).contains(count) ? count : nil
    }

    /// Parses a whole message; `nil` if the bytes are not one message.
    init?(bytes data: Data) {
        guard Self.count(beginning: data) == data.count, data.count >= Self.headerCount + 4 else { return nil }
        number = Self.number(in: data, at: 8)
        let signatureEnd = Self.headerCount + 4 + Int(data[data.startIndex + Self.headerCount + 3])
        guard signatureEnd <= data.count,
            let sender = SocketSignature(wire: Self.slice(of: data, Self.headerCount..<signatureEnd))
        else { return nil }
        self.sender = sender
        var parts: [Part] = []
        var next = signatureEnd
        while next < data.count {
            guard next + 8 <= data.count else { return nil }
            let (kind, count) = (Self.number(in: data, at: next), Int(Self.number(in: data, at: next + 4)))
            next += 8
            guard next + count <= data.count else { return nil }
            let part = Self.slice(of: data, next..<next + count)
            next += count
            switch kind {
            case 1: parts.append(.data(part))
            case 2: if let signature = SocketSignature(wire: part) { parts.append(.port(signature)) }
            // As Foundation: what a later version may add is passed over.
            default: break
            }
        }
        self.parts = parts
    }

    private static func slice(of data: Data, _ range: Range<Int>) -> Data {
        Data(data[data.startIndex + range.lowerBound..<data.startIndex + range.upperBound])
    }

    private static func number(in data: Data, at offset: Int) -> UInt32 {
        data.withUnsafeBytes { UInt32(bigEndian: $0.loadUnaligned(fromByteOffset: offset, as: UInt32.self)) }
    }

    private static func bytes(of number: UInt32) -> Data { withUnsafeBytes(of: number.bigEndian) { Data($0) } }
}
#endif
