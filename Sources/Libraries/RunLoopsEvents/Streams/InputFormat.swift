// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

internal import RunLoops

/// The format in which an ``InputReader`` delivers the bytes that it reads, such as lines.
public struct InputFormat<Element: Sendable>: Sendable {
    /// Takes bytes, or the end of the input (`nil`), and appends what they complete.
    typealias Decoder = (UnsafeRawBufferPointer?, inout [Element]) throws(RunLoop.InputError) -> Void

    /// Each reader has a decoder of its own, which keeps what is incomplete.
    let makeDecoder: @Sendable () -> Decoder
}

extension InputFormat where Element == UInt8 {
    /// Single bytes, in the order in which they are read.
    public static var bytes: InputFormat {
        InputFormat { { bytes, all in if let bytes { all.append(contentsOf: bytes) } } }
    }
}

extension InputFormat where Element == String {
    /// Lines of UTF-8 text, of one mebibyte at most; bytes that are not UTF-8 are replaced by `U+FFFD`.
    public static var lines: InputFormat { lines(limit: .inputLineLimit) }

    /// Lines of UTF-8 text.
    ///
    /// A line ends with a line feed, or with carriage return and line feed, which are not part of the line. The last
    /// line may end with the input. Unlike the lines of Foundation's `AsyncBytes`, a carriage return alone does not end
    /// a line.
    ///
    /// - Parameters:
    ///   - limit: How many bytes a line may have. The reader fails with ``RunLoops/RunLoop/InputError/lineTooLong(limit:)``
    ///     before it keeps more.
    ///   - isValidated: Whether a line that is not UTF-8 is an error, ``RunLoops/RunLoop/InputError/invalidUTF8``.
    ///     Otherwise the wrong bytes are replaced by `U+FFFD`.
    public static func lines(limit: Int, isValidated: Bool = false) -> InputFormat {
        InputFormat(limit) { (line) throws(RunLoop.InputError) in
            guard isValidated else { return String(decoding: line, as: UTF8.self) }
            guard let text = String(validating: line, as: UTF8.self) else { throw .invalidUTF8 }
            return text
        }
    }
}

extension InputFormat where Element == [UInt8] {
    /// Lines as bytes, of one mebibyte at most.
    public static var byteLines: InputFormat { byteLines(limit: .inputLineLimit) }

    /// Lines as bytes; see ``lines(limit:isValidated:)``.
    ///
    /// - Parameter limit: How many bytes a line may have.
    public static func byteLines(limit: Int) -> InputFormat { InputFormat(limit) { Array($0) } }
}

extension InputFormat {
    fileprivate init(
        _ limit: Int, _ decode: @escaping @Sendable (UnsafeRawBufferPointer) throws(RunLoop.InputError) -> Element
    ) {
        self.init {
            var splitter = LineSplitter(limit: max(0, limit))
            return { (bytes, all) throws(RunLoop.InputError) in
                let take = { (line: UnsafeRawBufferPointer) throws(RunLoop.InputError) in all.append(try decode(line)) }
                if let bytes { try splitter.split(bytes, take) } else { try splitter.end(take) }
            }
        }
    }
}

extension Int {
    /// The default limit of a line, in bytes.
    package static var inputLineLimit: Int { 1 << 20 }
}
