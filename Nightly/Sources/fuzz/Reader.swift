// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

import Foundation
import RunLoops
import RunLoopsCalendar

@testable import RunLoopsDiagnostics
@testable import RunLoopsEvents
@testable import RunLoopsPorts
@testable import RunLoopsTerminal

/// The code that reads what other programs write.
enum Reader: String, CaseIterable, Sendable {
    case decoder, lines, cron, frames, traces, elf, inotify
    // In C, for the address sanitizer: Reader+C.swift.
    case entries, addresses, packets, unwinding, stamps

    func read(_ bytes: UnsafeRawBufferPointer) {
        switch self {
        case .decoder: readTerminal(bytes)
        case .lines: readLines(bytes)
        case .cron: readCron(bytes)
        case .frames: readFrame(bytes)
        case .traces: readTrace(bytes)
        case .elf: readELF(bytes)
        case .inotify: _ = InotifyRecord.parse(bytes)
        case .entries: readEntries(bytes)
        case .addresses: readAddresses(bytes)
        case .packets: readPackets(bytes)
        case .unwinding: unwind(bytes)
        case .stamps: readStamps(bytes)
        }
    }

    /// The decoder makes the same of the bytes wherever they are cut; the first byte says where.
    private func readTerminal(_ bytes: UnsafeRawBufferPointer) {
        guard let first = bytes.first else { return }
        let text = Array(bytes.dropFirst())
        var (whole, cut): ([RawTerminal.Event], [RawTerminal.Event]) = ([], [])
        var decoder = Decoder()
        decoder.decode(text.span, into: &whole)
        decoder = Decoder()
        let size = Int(first % 16) + 1
        for start in stride(from: 0, to: text.count, by: size) {
            decoder.decode(text.span.extracting(start..<min(text.count, start + size)), into: &cut)
        }
        precondition(whole == cut, "\(size) bytes at a time: \(whole) and \(cut)")
        decoder.timeHasPassed(into: &cut)
        decoder.endIsLost(into: &cut)
    }

    /// Lines are the same wherever the bytes are cut.
    private func readLines(_ bytes: UnsafeRawBufferPointer) {
        guard let first = bytes.first else { return }
        let text = UnsafeRawBufferPointer(rebasing: bytes.dropFirst())
        let size = Int(first % 16) + 1
        precondition(lines(text, size: max(1, text.count)) == lines(text, size: size), "\(size) bytes at a time")
    }

    private func lines(_ text: UnsafeRawBufferPointer, size: Int) -> [[UInt8]] {
        var splitter = LineSplitter(limit: 64)
        var lines: [[UInt8]] = []
        do {
            for start in stride(from: 0, to: text.count, by: size) {
                let portion = UnsafeRawBufferPointer(rebasing: text[start..<min(text.count, start + size)])
                try splitter.split(portion) { line in lines.append(Array(line)) }
            }
            try splitter.end { line in lines.append(Array(line)) }
        } catch {
            lines.append(Array("\(error)".utf8))
        }
        return lines
    }

    private func readCron(_ bytes: UnsafeRawBufferPointer) {
        guard bytes.count < 200, let zone = TimeZone(identifier: "Europe/Berlin"),
            let schedule = try? CalendarSchedule.cron(String(decoding: bytes, as: UTF8.self), in: zone)
        else { return }
        var last = Date(timeIntervalSince1970: 1_900_000_000)
        for date in schedule.dates(after: last).prefix(3) {
            precondition(date > last, "\(date) follows \(last)")
            last = date
        }
    }

    /// A frame that is read is written as the same bytes.
    private func readFrame(_ bytes: UnsafeRawBufferPointer) {
        guard let first = bytes.first else { return }
        let packet = UnsafeRawBufferPointer(rebasing: bytes.dropFirst())
        guard let frame = try? Frame(reading: packet, received: Int(first), longest: 4096, most: 16) else { return }
        var written = [UInt8](repeating: 0, count: frame.headerSize)
        written.withUnsafeMutableBytes { frame.write(to: $0) }
        precondition(written.elementsEqual(packet.prefix(frame.headerSize)), "\(frame)")
    }

    private func readTrace(_ bytes: UnsafeRawBufferPointer) {
        guard let report = try? RunLoop.Trace.Report(json: String(decoding: bytes, as: UTF8.self)) else { return }
        _ = report.findings()
        _ = report.summary(width: 80)
    }

    private func readELF(_ bytes: UnsafeRawBufferPointer) {
        let content = Array(bytes)
        let file = ELFFile { offset, count in
            guard offset < UInt64(content.count) else { return [] }
            return Array(content[Int(offset)...].prefix(count))
        }
        guard let file else { return }
        for function in file.functions().prefix(100) { _ = file.name(of: function) }
    }
}
