// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

/// Turns the bytes of a terminal into events; a value, without time and without a descriptor.
///
/// The result does not depend on how the bytes are divided into pieces. Memory is bounded: 32 parameters, and 64 KiB of
/// a string or of a part of pasted text. If the rest of a sequence, a string or a pasted text is lost,
/// ``timeHasPassed(into:)`` and ``endIsLost(into:)`` end it; the caller measures the times. The decoder knows the keys
/// of xterm, VT220, rxvt, the Linux console and the kitty protocol together: if two terminals send the same bytes for
/// different keys, xterm's key is used.
struct Decoder {
    /// The maximum number of bytes of a string or of a part of pasted text.
    static let longest = 1 << 16
    /// The maximum number of bytes in which the late rest of a sequence is searched.
    static let maxLateRest = 256

    private enum State {
        case ground
        /// Inside a scalar: the number of missing bytes, and the range of the next byte.
        case scalar(missing: Int, next: ClosedRange<UInt8>)
        case escape
        case functional
        case control
        case console
        case oldMouse
        case string
        case stringEscape
        case paste
    }

    private var state = State.ground
    private var scalar: UInt32 = 0
    /// Whether an escape was read before: alt is held, or the escape key was pressed before.
    private var isAlt = false
    private var prefix: UInt8 = 0
    private var intermediate: UInt8 = 0
    private var parameters = Parameters()
    /// The byte that began the string.
    private var introducer: UInt8 = 0
    /// The bytes of a string or of pasted text so far.
    private var collected: [UInt8] = []
    /// The number of bytes of the sequence that ends a paste that have been read.
    private var matched = 0
    private var lastWasReturn = false
    private var oldMouse = OldMouse()
    /// The beginning of a sequence that was counted as a key because its rest did not arrive in time.
    private var lateBeginning: [UInt8] = []
    /// The number of the present sequence or string, with which a caller recognises whether it is still the same one.
    private(set) var sequenceNumber = 0

    /// The number of bytes of a string or of pasted text that are kept.
    var keptBytes: Int { collected.count }

    /// Whether the bytes so far may be a whole key: the caller calls ``timeHasPassed(into:)`` if no more bytes follow
    /// in time.
    var isWaiting: Bool {
        switch state {
        case .escape: true
        case .functional, .control: prefix == 0 && intermediate == 0 && parameters.isEmpty
        case .string: collected.isEmpty
        default: false
        }
    }

    /// Whether the bytes so far are part of a pasted text.
    var isInPaste: Bool { if case .paste = state { true } else { false } }

    /// Whether the beginning of a sequence was counted as a key, and no byte has come since.
    var hasLateBeginning: Bool { !lateBeginning.isEmpty }

    /// Whether the end of a sequence, a string or a pasted text is missing: the caller calls ``endIsLost(into:)`` if it
    /// does not follow after a longer time.
    var isOpen: Bool { if case .ground = state { false } else { !isWaiting } }

    /// Counts the bytes so far as a key; called if no byte has followed in time.
    mutating func timeHasPassed(into output: inout [Event]) {
        guard isWaiting else { return }
        let old = state
        state = .ground
        switch old {
        case .escape:
            lateBeginning = [0x1B]
            emit(.escape, into: &output)
        case .functional: emitAlt("O", into: &output)
        case .control:
            lateBeginning = [0x1B, UInt8(ascii: "[")]
            emitAlt("[", into: &output)
        default:
            lateBeginning = [0x1B, introducer]
            emitAlt(Character(Unicode.Scalar(introducer)), into: &output)
        }
    }

    /// Ends an unfinished sequence, string or pasted text; the next bytes begin anew.
    ///
    /// A pasted text is delivered as far as it was read. An unfinished sequence and an unfinished string are dropped.
    mutating func endIsLost(into output: inout [Event]) {
        switch state {
        case .ground: return
        case .paste:
            for place in 0..<matched { collect(Self.pasteEnd[place], into: &output) }
            matched = 0
            emitPaste(collected.count, isLast: true, into: &output)
        case .scalar: emit(.character("\u{FFFD}"), into: &output)
        case .escape: emit(.escape, into: &output)
        case .stringEscape:
            endString()
            emit(.escape, into: &output)
        default: break
        }
        endString()
    }

    /// Continues a sequence whose beginning was counted as a key because its rest was late.
    ///
    /// A terminal sends the rest of a sequence in one piece, and a user types letter by letter. So bytes are taken for
    /// the rest only if they are the whole rest, with a number or a sign that no key writes after an escape.
    ///
    /// - Parameters:
    ///   - bytes: The bytes that were read and not decoded yet; at most the first ``maxLateRest`` are needed.
    ///   - isInTime: Whether the beginning was read recently enough.
    mutating func resumeLate(_ bytes: [UInt8], isInTime: Bool) {
        if lateBeginning.isEmpty { return }
        let beginning = lateBeginning
        lateBeginning = []
        guard isInTime, case .ground = state else { return }
        guard Self.isWholeSequence(beginning + bytes) else { return }
        var nothing: [Event] = []
        decode(beginning.span, into: &nothing)
    }

    /// Whether bytes begin with a whole sequence of a terminal that no user types by hand.
    private static func isWholeSequence(_ bytes: [UInt8]) -> Bool {
        guard bytes.count > 3 else { return false }
        let rest = bytes[3...]
        switch bytes[1] {
        case UInt8(ascii: "["):
            guard (0x30...0x39).contains(bytes[2]) || bytes[2] == UInt8(ascii: "?") || bytes[2] == UInt8(ascii: "<")
            else { return false }
            return rest.first { !(0x20..<0x40).contains($0) }.map { (0x40..<0x7F).contains($0) } ?? false
        case UInt8(ascii: "]"), UInt8(ascii: "P"), UInt8(ascii: "_"):
            guard (0x30...0x39).contains(bytes[2]) || bytes[2] == UInt8(ascii: "G") else { return false }
            return rest.contains(0x07) || zip(rest, rest.dropFirst()).contains { $0 == (0x1B, UInt8(ascii: "\\")) }
        default: return false
        }
    }

    private mutating func emitAlt(_ character: Character, into output: inout [Event]) {
        isAlt = true
        emit(.character(character), into: &output)
    }

    /// Decodes bytes.
    ///
    /// - Complexity: O(bytes).
    mutating func decode(_ bytes: Span<UInt8>, into output: inout [Event]) {
        var index = 0
        while index < bytes.count {
            switch state {
            case .ground: index = decodeText(bytes, from: index, into: &output)
            case .paste: index = collectPaste(bytes, from: index, into: &output)
            default: if step(bytes[index], into: &output) { index += 1 }
            }
        }
    }

    /// Decodes a byte; returns false if the byte is to be decoded again in the new state.
    private mutating func step(_ byte: UInt8, into output: inout [Event]) -> Bool {
        switch state {
        case .ground, .paste: false
        case .scalar(let missing, let next): stepScalar(byte, missing, next, into: &output)
        case .escape: stepEscape(byte, into: &output)
        case .functional: stepFunctional(byte, into: &output)
        case .control: stepControl(byte, into: &output)
        case .console: stepConsole(byte, into: &output)
        case .oldMouse: stepOldMouse(byte, into: &output)
        case .string: stepString(byte)
        case .stringEscape: stepStringEscape(byte, into: &output)
        }
    }

    private mutating func emit(
        _ key: Key, _ modifiers: Modifiers = [], _ phase: KeyPress.Phase = .began, into output: inout [Event]
    ) {
        output.append(.key(KeyPress(key, modifiers: isAlt ? modifiers.union(.alt) : modifiers, phase: phase)))
        isAlt = false
    }

    // MARK: Text

    /// Decodes characters up to the next sequence; returns the index of the first byte that is not decoded.
    private mutating func decodeText(_ bytes: Span<UInt8>, from start: Int, into output: inout [Event]) -> Int {
        var index = start
        while index < bytes.count {
            let byte = bytes[index]
            index += 1
            switch byte {
            case 0x1B:
                state = .escape
                return index
            case 0x20..<0x7F: emit(.character(Character(Unicode.Scalar(byte))), into: &output)
            case 0xC2...0xF4:
                begin(byte)
                return index
            case 0x80...: emit(.character("\u{FFFD}"), into: &output)
            default:
                let (key, modifiers) = Keys.control(byte)
                emit(key, modifiers, into: &output)
            }
        }
        return index
    }

    /// Begins a scalar of several bytes with its first byte.
    private mutating func begin(_ byte: UInt8) {
        // What would be overlong, a surrogate or beyond the last scalar ends at its second byte.
        let next: ClosedRange<UInt8> =
            switch byte {
            case 0xE0: 0xA0...0xBF
            case 0xED: 0x80...0x9F
            case 0xF0: 0x90...0xBF
            case 0xF4: 0x80...0x8F
            default: 0x80...0xBF
            }
        let missing = byte < 0xE0 ? 1 : byte < 0xF0 ? 2 : 3
        scalar = UInt32(byte) & (0x3F >> UInt32(missing))
        state = .scalar(missing: missing, next: next)
    }

    private mutating func stepScalar(
        _ byte: UInt8, _ missing: Int, _ next: ClosedRange<UInt8>, into output: inout [Event]
    ) -> Bool {
        guard next.contains(byte) else {
            state = .ground
            emit(.character("\u{FFFD}"), into: &output)
            return false
        }
        scalar = scalar << 6 | UInt32(byte & 0x3F)
        state = missing == 1 ? .ground : .scalar(missing: missing - 1, next: 0x80...0xBF)
        if missing == 1 { emit(.character(Character(Unicode.Scalar(scalar) ?? "\u{FFFD}")), into: &output) }
        return true
    }

    // MARK: Sequences

    private mutating func stepEscape(_ byte: UInt8, into output: inout [Event]) -> Bool {
        switch byte {
        case 0x1B:
            // The first of three was a key; of two, the first is the alt key of rxvt.
            if isAlt {
                isAlt = false
                emit(.escape, into: &output)
            }
            isAlt = true
        case UInt8(ascii: "["): beginSequence(.control)
        case UInt8(ascii: "O"): beginSequence(.functional)
        case UInt8(ascii: "P"), UInt8(ascii: "]"), UInt8(ascii: "_"), UInt8(ascii: "^"), UInt8(ascii: "X"):
            introducer = byte
            collected.removeAll(keepingCapacity: true)
            sequenceNumber &+= 1
            state = .string
        default:
            isAlt = true
            state = .ground
            return false
        }
        return true
    }

    private mutating func beginSequence(_ next: State) {
        (prefix, intermediate) = (0, 0)
        parameters.removeAll()
        sequenceNumber &+= 1
        state = next
    }

    /// Decodes a byte after escape and O.
    private mutating func stepFunctional(_ byte: UInt8, into output: inout [Event]) -> Bool {
        if (0x30...0x39).contains(byte), parameters[0] ?? 0 < 10 {
            parameters.append(digit: Int(byte - 0x30))
            return true
        }
        state = .ground
        defer { isAlt = false }
        guard (0x20..<0x7F).contains(byte) else { return false }
        if let (key, modifiers) = Keys.functional(byte) {
            emit(key, modifiers.union(Keys.modifiers(parameters[0])), into: &output)
        }
        return true
    }

    /// Decodes a byte after escape and a bracket.
    private mutating func stepControl(_ byte: UInt8, into output: inout [Event]) -> Bool {
        switch byte {
        case 0x30...0x39: parameters.append(digit: Int(byte - 0x30))
        case 0x3A, 0x3B: parameters.separate(inGroup: byte == 0x3A)
        case 0x3C...0x3F where parameters.isEmpty && prefix == 0: prefix = byte
        case UInt8(ascii: "$") where prefix == 0 && !parameters.isEmpty: endControl(byte, into: &output)
        case 0x20...0x2F: intermediate = byte
        case UInt8(ascii: "[") where prefix == 0 && parameters.isEmpty: state = .console
        case UInt8(ascii: "M") where prefix == 0 && parameters.isEmpty:
            oldMouse.begin()
            state = .oldMouse
        case 0x40...0x7E: endControl(byte, into: &output)
        default:
            // Not a sequence after all: what came is dropped, and the byte counts.
            isAlt = false
            state = .ground
            return false
        }
        return true
    }

    private mutating func endControl(_ final: UInt8, into output: inout [Event]) {
        state = .ground
        defer { isAlt = false }
        if parameters.isTooLong { return }
        let sequence = ControlSequence(
            prefix: prefix, intermediate: intermediate, final: final, parameters: parameters)
        switch sequence.meaning {
        case .keys(let keys):
            let alt = isAlt
            for key in keys {
                isAlt = alt
                emit(key.key, key.modifiers, key.phase, into: &output)
            }
        case .event(let event): output.append(event)
        case .pasteBegins:
            collected.removeAll(keepingCapacity: true)
            (matched, lastWasReturn) = (0, false)
            state = .paste
        case .nothing: break
        }
    }

    /// Decodes a byte after escape and two brackets: the function keys of the Linux console.
    private mutating func stepConsole(_ byte: UInt8, into output: inout [Event]) -> Bool {
        state = .ground
        if (0x41...0x45).contains(byte) { emit(.function(Int(byte) - 0x40), into: &output) }
        isAlt = false
        return byte >= 0x20
    }

    private mutating func stepOldMouse(_ byte: UInt8, into output: inout [Event]) -> Bool {
        guard let report = oldMouse.take(byte) else { return true }
        state = .ground
        isAlt = false
        if let event = report { output.append(event) }
        return true
    }

    // MARK: Strings

    private mutating func stepString(_ byte: UInt8) -> Bool {
        switch byte {
        case 0x1B: state = .stringEscape
        case 0x07:
            // Ends a string as well; handled as if an escape had come before.
            state = .stringEscape
            return false
        case 0x00..<0x20:
            // No string has a control character: this was none, and the key counts.
            endString()
            return false
        default: if collected.count < Self.longest { collected.append(byte) }
        }
        return true
    }

    private mutating func stepStringEscape(_ byte: UInt8, into output: inout [Event]) -> Bool {
        let isEnd = byte == 0x07 || byte == UInt8(ascii: "\\")
        if isEnd, let reply = Self.reply(introducer, collected) { output.append(.reply(reply)) }
        endString()
        // Without its end, the string is followed by another sequence.
        if !isEnd { state = .escape }
        return isEnd
    }

    private mutating func endString() {
        collected = []
        isAlt = false
        state = .ground
    }

    /// Returns the reply that a string contains; nil if there is none.
    private static func reply(_ introducer: UInt8, _ bytes: [UInt8]) -> Reply? {
        let text = String(decoding: bytes, as: UTF8.self)
        switch introducer {
        case UInt8(ascii: "P") where text.hasPrefix("1$r"): return .setting(String(text.dropFirst(3)))
        case UInt8(ascii: "]"): return ColorReply.parse(text)
        case UInt8(ascii: "_") where text.hasPrefix("G"): return .graphics(String(text.dropFirst()))
        default: return nil
        }
    }

    // MARK: Paste

    private static let pasteEnd = Array("\u{1B}[201~".utf8)

    /// Collects pasted text up to its end; returns the index of the first byte that is not collected.
    private mutating func collectPaste(_ bytes: Span<UInt8>, from start: Int, into output: inout [Event]) -> Int {
        var index = start
        while index < bytes.count {
            let byte = bytes[index]
            index += 1
            if byte == Self.pasteEnd[matched] {
                matched += 1
                if matched < Self.pasteEnd.count { continue }
                emitPaste(collected.count, isLast: true, into: &output)
                state = .ground
                return index
            }
            if matched > 0 {
                // It was text. Only its first byte can begin the end, so the end begins at this byte, or later.
                for place in 0..<matched { collect(Self.pasteEnd[place], into: &output) }
                matched = 0
                index -= 1
                continue
            }
            collect(byte, into: &output)
        }
        return index
    }

    /// Appends a byte to the pasted text; a line ends with a line feed, whatever the terminal sends.
    private mutating func collect(_ byte: UInt8, into output: inout [Event]) {
        defer { lastWasReturn = byte == 0x0D }
        if byte == 0x0A, lastWasReturn { return }
        collected.append(byte == 0x0D ? 0x0A : byte)
        if collected.count < Self.longest { return }
        // A part ends where a scalar ends; broken text may have no such place near.
        let begin: Int = collected.suffix(4).lastIndex(where: { $0 & 0xC0 != 0x80 }) ?? collected.count
        let isWhole = begin < collected.count && collected[begin] < 0x80
        emitPaste(isWhole ? collected.count : begin, isLast: false, into: &output)
    }

    private mutating func emitPaste(_ count: Int, isLast: Bool, into output: inout [Event]) {
        output.append(.paste(String(decoding: collected[..<count], as: UTF8.self), isLast: isLast))
        collected.removeSubrange(..<count)
        if isLast { collected = [] }
    }
}
