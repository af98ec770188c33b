// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

#if Window
import CLoopUIWayland
import Glibc
import LoopUI
import RunLoops
import RunLoopsTestSupport
import Testing

@testable import LoopUIWindow

/// From what a compositor reports to raw input, without a compositor.
@Suite struct CompositorEventTests {
    private func number(_ value: UInt32) -> wl_argument {
        var argument = wl_argument()
        argument.u = value
        return argument
    }

    private func pixels(_ value: Double) -> wl_argument {
        var argument = wl_argument()
        argument.f = Int32(value * 256)
        return argument
    }

    private func decode(
        _ object: CompositorObject, _ opcode: UInt32, _ arguments: wl_argument...
    ) -> CompositorEvent? {
        // One more, so that an event without arguments has a pointer too.
        (arguments + [wl_argument()]).withUnsafeBufferPointer {
            $0.baseAddress.flatMap { CompositorEvent(object, opcode, $0) }
        }
    }

    // MARK: Events

    @Test func `Events of the window are decoded`() {
        #expect(decode(.toplevel, 1) == .closeButton)
        #expect(decode(.toplevel, 0, number(0), number(0)) == .suggestedSize(width: 0, height: 0))
        #expect(decode(.toplevel, 0, number(640), number(480)) == .suggestedSize(width: 640, height: 480))
        #expect(decode(.xdgSurface, 0, number(7)) == .configured(serial: 7))
        #expect(decode(.base, 0, number(8)) == .ping(serial: 8))
        #expect(decode(.buffer, 0) == .released)
        #expect(decode(.callback, 0, number(9)) == .done(9))
        #expect(decode(.registry, 1, number(4)) == .globalRemoved(name: 4))
        #expect(decode(.output, 1, number(1), number(640), number(480), number(59_940)) == .frameRate(59_940))
        #expect(decode(.output, 3, number(2)) == .scale(2))
        // A mode that is not in use.
        #expect(decode(.output, 1, number(2), number(640), number(480), number(59_940)) == nil)
    }

    @Test func `Events of the seat are decoded with pixels, key codes of layouts and all modifiers`() {
        #expect(
            decode(.keyboard, 3, number(1), number(2), number(30), number(1))
                == .seat(.key(code: 38, isDown: true, serial: 1)))
        #expect(
            decode(.keyboard, 3, number(1), number(2), number(.max), number(0))
                == .seat(.key(code: 7, isDown: false, serial: 1)))
        #expect(
            decode(.keyboard, 4, number(0), number(1), number(4), number(64), number(2))
                == .seat(.modifiers(bits: 69, layout: 2)))
        #expect(
            decode(.pointer, 0, number(5), number(0), pixels(3.75), pixels(-0.25))
                == .seat(.pointerEntered(serial: 5, at: Pixel(x: 3, y: -1))))
        #expect(
            decode(.pointer, 3, number(1), number(2), number(0x110), number(1))
                == .seat(.button(0x110, isDown: true, serial: 1)))
        #expect(decode(.pointer, 4, number(1), number(0), pixels(-15)) == .seat(.scrolled(.vertical, -15)))
        #expect(decode(.pointer, 4, number(1), number(2), pixels(1)) == nil)
        #expect(decode(.pointer, 8, number(1), number(UInt32(bitPattern: -2))) == .seat(.notches(.horizontal, -2)))
        #expect(
            decode(.touch, 0, number(1), number(2), number(0), number(3), pixels(10), pixels(20))
                == .seat(.touchBegan(3, at: Pixel(x: 10, y: 20))))
        #expect(decode(.touch, 1, number(1), number(2), number(3)) == .seat(.touchEnded(3)))
        #expect(decode(.touch, 4) == .seat(.touchesCancelled))
    }

    @Test func `An event that newer versions of an interface have is ignored`() {
        for object in CompositorObject.allCases { #expect(decode(object, 99) == nil) }
    }

    // MARK: Tables

    /// The names and signatures of an interface's requests or events, as a file of wayland-protocols has them.
    private func signatures(_ kind: String, of interface: String, in text: String) -> [String: String] {
        func value(_ name: String, _ element: Substring) -> Substring? {
            for mark in [" ", "\n"] {
                for part in element.split(separator: "\(mark)\(name)=\"").dropFirst() {
                    return part.prefix { $0 != "\"" }
                }
            }
            return nil
        }
        let letters = [
            "int": "i", "uint": "u", "fixed": "f", "string": "s", "object": "o", "new_id": "n", "array": "a",
        ]
        var found: [String: String] = [:]
        var (isInside, order) = (false, 0)
        var current: String?
        for element in text.split(separator: "<") {
            let name = element.prefix { $0.isLetter }
            if name == "interface" { isInside = value("name", element).map(String.init) == interface }
            if !isInside { continue }
            if name == "request" || name == "event" {
                current = nil
                // The tables have the first version.
                guard name == kind, value("since", element) == nil, let message = value("name", element) else {
                    continue
                }
                current = "\(order) \(message)"
                found["\(order) \(message)"] = ""
                order += 1
            }
            if name == "arg", let current, let letter = letters[String(value("type", element) ?? "")] {
                found[current, default: ""] += (value("allow-null", element) == "true" ? "?" : "") + letter
            }
        }
        return found
    }

    private func table(_ count: CInt, _ messages: UnsafePointer<wl_message>?) -> [String: String] {
        var table: [String: String] = [:]
        for index in 0..<Int(count) {
            guard let message = messages?[index] else { continue }
            table["\(index) \(String(cString: message.name))"] = String(cString: message.signature)
        }
        return table
    }

    private static let protocols = "/usr/share/wayland-protocols"
    private static let hasProtocols = access(protocols, R_OK) == 0

    @Test(.enabled(if: hasProtocols, "wayland-protocols is not installed."))
    func `The tables of windows' interfaces agree with wayland-protocols`() throws {
        let files = [
            "xdg_wm_base": "stable/xdg-shell/xdg-shell.xml", "xdg_surface": "stable/xdg-shell/xdg-shell.xml",
            "xdg_toplevel": "stable/xdg-shell/xdg-shell.xml",
            "zxdg_decoration_manager_v1": "unstable/xdg-decoration/xdg-decoration-unstable-v1.xml",
            "zxdg_toplevel_decoration_v1": "unstable/xdg-decoration/xdg-decoration-unstable-v1.xml",
        ]
        for (name, file) in files {
            let interface = try #require(rlw_interface(name)).pointee
            #expect(String(cString: interface.name) == name && interface.version == 1)
            let text = try #require(Self.contents("\(Self.protocols)/\(file)"))
            let requests = signatures("request", of: name, in: text)
            let events = signatures("event", of: name, in: text)
            #expect(!requests.isEmpty)
            #expect(table(interface.method_count, interface.methods) == requests, "\(name)")
            #expect(table(interface.event_count, interface.events) == events, "\(name)")
        }
    }

    private static func contents(_ path: String) -> String? {
        guard let file = fopen(path, "r") else { return nil }
        defer { fclose(file) }
        let bytes = [UInt8](unsafeUninitializedCapacity: 1 << 20) { buffer, count in
            count = fread(buffer.baseAddress, 1, buffer.count, file)
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    // MARK: Sizes and damage

    @Test func `Sizes from the compositor are bounded`() {
        for (width, height) in [(0, 0), (-5, -5), (.max, .max), (.min, 1), (16_384, 16_384), (1, .max)] {
            let size = SurfaceSize(width: width, height: height)
            #expect((1...SurfaceSize.maxSide).contains(size.width) && (1...SurfaceSize.maxSide).contains(size.height))
            #expect(size.width * size.height <= SurfaceSize.maxPixels)
            // Two buffers, with four bytes a pixel.
            #expect(Int32(exactly: size.width * size.height * 8) != nil)
        }
        let size = SurfaceSize(width: 641, height: 483)
        #expect(size.width == 641 && size.height == 483)
    }

    @Test func `A title that exceeds a message of the compositor is cut between two characters`() {
        #expect(CompositorSurface.messageText("Übersicht ☀") == "Übersicht ☀")
        let marked = String(repeating: "e" + String(repeating: "\u{301}", count: 30), count: 256)
        for text in [marked, "title " + marked, String(repeating: "👩‍👩‍👧‍👦", count: 256)] {
            let (cut, shown) = (CompositorSurface.messageText(text), text.shown(limit: 256))
            #expect(shown.utf8.count > 4096 && shown.hasPrefix(cut))
            #expect((900...1024).contains(cut.utf8.count))
        }
    }

    @Test func `Damage of many parts becomes one rectangle around them`() {
        var damage = DamagedArea()
        damage.insert(PixelRect(x: 1, y: 1, width: 0, height: 5))
        #expect(damage.isEmpty)
        for index in 0..<DamagedArea.maxAreas {
            damage.insert(PixelRect(x: index * 10, y: index, width: 5, height: 2))
        }
        #expect(damage.areas.count == DamagedArea.maxAreas)
        damage.insert(PixelRect(x: 3, y: 400, width: 5, height: 2))
        #expect(damage.areas == [PixelRect(x: 0, y: 0, width: 635, height: 402)])
    }

    // MARK: Frames

    private func instant(_ milliseconds: Double) -> RunLoop.Instant {
        RunLoop.Instant(nanoseconds: Int64(milliseconds * 1_000_000))
    }

    @Test func `Frames are numbered by their times, and a late report has the time of its frame`() {
        var times = FrameTimes()
        // The compositor's clock is another one, which passes its end meanwhile.
        let start = UInt32.max - 20
        let first = times.began(at: start, now: instant(1000), rate: 60_000)
        #expect(first.instant == instant(1000))
        let second = times.began(at: start &+ 17, now: instant(1016.5), rate: 60_000)
        #expect(second.number == first.number + 1 && second.instant == instant(1016.5))
        // Read 180 ms later, by a program that was busy.
        let third = times.began(at: start &+ 33, now: instant(1213), rate: 60_000)
        #expect(third.number == first.number + 2)
        #expect(third.instant >= instant(1032.5) && third.instant < instant(1033))
        let fourth = times.began(at: start &+ 217, now: instant(1216.6), rate: 60_000)
        #expect(fourth.number == first.number + 13 && fourth.instant <= instant(1216.6))
    }

    @Test func `A frame begins no later than its report, whichever way the compositor's clock goes`() {
        var times = FrameTimes()
        var number = Int.min
        let reports: [(UInt32, Double)] = [
            (5, 100), (4, 101), (5, 102), (4_000_000, 103), (7, 104), (.max, 105), (10, 106),
        ]
        for (milliseconds, now) in reports {
            for rate in [0, -1, 60_000, .max] {
                let frame = times.began(at: milliseconds, now: instant(now), rate: rate)
                #expect(frame.instant <= instant(now) && frame.number > number)
                number = frame.number
            }
        }
    }

    // MARK: Input

    @Test func `Notches are those of the wheel, or a tenth of the pixels that fingers move`() {
        var scrolled = ScrolledAmount()
        #expect(scrolled.take() == nil)
        scrolled.add(.vertical, pixels: 15)
        scrolled.add(.vertical, notches: 1)
        #expect(scrolled.take() == Point(0, 1))
        scrolled.add(.vertical, pixels: -2.5)
        scrolled.add(.horizontal, pixels: 5)
        #expect(scrolled.take() == Point(0.5, -0.25))
        #expect(scrolled.take() == nil)
    }

    @MainActor @Test func `A keymap is read from its descriptor, and a size that the file does not have is refused`()
        throws
    {
        let folder = TemporaryDirectory()
        let descriptor = open(folder.path("keymap"), O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
        defer { close(descriptor) }
        #expect(write(descriptor, "xkb_keymap {\0rest", 17) == 17)
        #expect(CompositorSeat.read(descriptor, 17) == Array("xkb_keymap {".utf8))
        for size in [0, -1, 18, CompositorSeat.maxKeymap + 1, .max] {
            #expect(CompositorSeat.read(descriptor, size) == nil)
        }
        #expect(CompositorSeat.read(-1, 5) == nil)
    }

    @Test func `A keyboard keeps its layout if the text of another one is not valid`() throws {
        #expect(throws: WindowDisplayError.noKeyboard) { try Keyboard(keymap: Array("xkb_keymap {".utf8)) }
        #expect(throws: WindowDisplayError.noKeyboard) { try Keyboard(keymap: []) }
        let keyboard = try Keyboard(layout: "de")
        keyboard.reload(keymap: Array("nonsense".utf8))
        #expect(keyboard.input(code: 29, isDown: true, state: 0) == KeyInput(.character("z")))
        #expect(keyboard.repeats(29) && !keyboard.repeats(50))
    }

    @MainActor @Test func `Buttons have the numbers of the X server`() {
        #expect([0x110, 0x111, 0x112, 0x113, 0x114].map { CompositorSeat.button($0) } == [1, 3, 2, 8, 9])
        #expect(CompositorSeat.button(0) == nil && CompositorSeat.button(.max) == nil)
    }
}
#endif
