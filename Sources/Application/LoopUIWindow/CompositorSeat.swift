// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

#if Window
internal import CLoopUIWayland
internal import LoopUI
internal import RunLoops
internal import RunLoopsEvents
internal import RunLoopsLibC

/// The keyboard, the pointer and the touch screen of a compositor's first seat.
@MainActor final class CompositorSeat {
    /// The seat's name on the compositor.
    let name: UInt32
    private let connection: CompositorConnection
    private let queue: InputQueue
    private let seat: OpaquePointer
    private var keyboardObject: OpaquePointer?
    private var pointerObject: OpaquePointer?
    private var touchObject: OpaquePointer?

    private var keyboard: Keyboard?
    /// The modifiers and the layout, as the X server says them.
    private var state: UInt16 = 0
    private var repeats: KeyRepeats
    private var shortcut = PasteShortcut()
    private let clipboard: CompositorClipboard?
    /// The number of the user's last input.
    private var serial: UInt32 = 0

    private var pointer: PointerTranslator
    private var image: PointerImage?
    private var place = Pixel(x: 0, y: 0)
    private var scrolled = ScrolledAmount()
    private var fingers: PointerTranslator
    private var fingerPlaces: [Int32: Pixel] = [:]

    /// Called when the window gets or loses the keys.
    private let focusHandler: (Bool) -> Void

    /// Binds the first seat; nil if the compositor has none.
    init?(
        _ connection: CompositorConnection, _ queue: InputQueue, cell: Size, image: PointerImage?,
        focusHandler: @escaping (Bool) -> Void
    ) {
        let seats = connection.globals.filter { $0.value.interface == "wl_seat" }
        guard let (name, global) = seats.min(by: { $0.key < $1.key }),
            let seat = connection.bind(name, global, maxVersion: 5)
        else { return nil }
        (self.name, self.connection, self.queue, self.seat) = (name, connection, queue, seat)
        repeats = KeyRepeats(connection, queue)
        clipboard = CompositorClipboard(connection, seat: seat, queue)
        pointer = PointerTranslator(cell: cell)
        fingers = PointerTranslator(cell: cell)
        self.image = image
        self.focusHandler = focusHandler
        repeats.handler = { [weak self] code in self?.key(code, isDown: true) }
        connection.listen(to: seat, as: .seat)
    }

    /// Handles an event of the seat or of one of its devices.
    func handle(_ event: SeatEvent) {
        switch event {
        case .capabilities(let bits): setDevices(bits)
        case .keymap(let format, let descriptor, let size): readKeymap(format, descriptor, size)
        case .focus(let isFocused):
            repeats.stop()
            keyboard?.forgetHeld()
            shortcut.cancel()
            focusHandler(isFocused)
        case .key(let code, let isDown, let serial):
            self.serial = serial
            key(code, isDown: isDown)
            repeats.note(code, isDown: isDown && keyboard?.repeats(code) == true)
        case .modifiers(let bits, let layout):
            // The lowest eight are the real modifiers, in the order of the X server; four layouts at most.
            state = UInt16(bits & 0xFF) | UInt16(layout & 3) << 13
        case .repeats(let rate, let delay): repeats.set(rate: rate, delay: delay)
        case .pointerEntered(let serial, let place):
            self.place = place
            if let pointerObject { image?.show(on: pointerObject, serial) }
        case .pointerLeft: for input in pointer.cancel() { queue.push(input) }
        case .pointerMoved(let place):
            self.place = place
            for input in pointer.moved(to: place, state: state) { queue.push(input) }
        case .button(let code, let isDown, let serial):
            self.serial = serial
            guard let number = Self.button(code) else { return }
            if let input = pointer.button(number, isDown: isDown, at: place, state: state) { queue.push(input) }
        case .scrolled(let axis, let pixels):
            scrolled.add(axis, pixels: pixels)
            // Older seats do not say which events belong together.
            if wl_proxy_get_version(seat) < 5 { pushScrolled() }
        case .notches(let axis, let notches): scrolled.add(axis, notches: notches)
        case .pointerFrame: pushScrolled()
        case .touchBegan(let number, let place): touch(number, .began, place)
        case .touchMoved(let number, let place): touch(number, .moved, place)
        case .touchEnded(let number): touch(number, .ended, fingerPlaces[number] ?? Pixel(x: 0, y: 0))
        case .touchesCancelled:
            fingerPlaces = [:]
            for input in fingers.cancel() { queue.push(input) }
        }
    }

    /// Handles a callback; returns false if it is not one of the seat's.
    func done(_ object: OpaquePointer) -> Bool { repeats.done(object) }

    /// Cancels what is held, because the seat has gone or the window closes.
    func cancel() {
        repeats.stop()
        clipboard?.cancel()
        for input in pointer.cancel() + fingers.cancel() { queue.push(input) }
    }

    // MARK: Clipboard

    /// Handles an event of the clipboard.
    func handle(_ event: ClipboardEvent, of object: OpaquePointer) {
        if let clipboard { clipboard.handle(event, of: object) } else { CompositorEvent.clipboard(event).discard() }
    }

    /// Puts the program's pasteboard on the clipboard of other programs.
    func ownClipboard() { clipboard?.own(serial) }

    // MARK: Devices

    private func setDevices(_ bits: UInt32) {
        func has(_ capability: wl_seat_capability) -> Bool { bits & capability.rawValue != 0 }
        switch (has(WL_SEAT_CAPABILITY_KEYBOARD), keyboardObject) {
        case (true, nil):
            keyboardObject = wl_seat_get_keyboard(seat)
            connection.listen(to: keyboardObject, as: .keyboard)
        case (false, let object?):
            // Not `release`, which the oldest seats do not know.
            wl_keyboard_destroy(object)
            keyboardObject = nil
            repeats.stop()
            keyboard?.forgetHeld()
        default: break
        }
        switch (has(WL_SEAT_CAPABILITY_POINTER), pointerObject) {
        case (true, nil):
            pointerObject = wl_seat_get_pointer(seat)
            connection.listen(to: pointerObject, as: .pointer)
        case (false, let object?):
            wl_pointer_destroy(object)
            pointerObject = nil
            for input in pointer.cancel() { queue.push(input) }
        default: break
        }
        switch (has(WL_SEAT_CAPABILITY_TOUCH), touchObject) {
        case (true, nil):
            touchObject = wl_seat_get_touch(seat)
            connection.listen(to: touchObject, as: .touch)
        case (false, let object?):
            wl_touch_destroy(object)
            touchObject = nil
            for input in fingers.cancel() { queue.push(input) }
        default: break
        }
    }

    // MARK: Keys

    /// The maximum number of bytes of a text that says what keys mean; the usual ones have 60 KiB.
    static let maxKeymap = 4 << 20

    private func readKeymap(_ format: UInt32, _ descriptor: CInt, _ size: Int) {
        defer { close(descriptor) }
        guard format == WL_KEYBOARD_KEYMAP_FORMAT_XKB_V1.rawValue, let text = Self.read(descriptor, size) else {
            return
        }
        repeats.stop()
        if let keyboard {
            keyboard.reload(keymap: text)
        } else {
            keyboard = try? Keyboard(keymap: text)
        }
    }

    /// Returns the bytes of a file before its zero byte; nil if the size is too large or the file has fewer.
    ///
    /// Reads and does not map: a mapped file that the compositor cuts would end the program.
    static func read(_ descriptor: CInt, _ size: Int) -> [UInt8]? {
        guard (1...maxKeymap).contains(size) else { return nil }
        // SAFETY: each read is given the room behind the bytes that were read.
        let bytes = [UInt8](unsafeUninitializedCapacity: size) { buffer, count in
            while count < size, let base = buffer.baseAddress {
                let result = pread(descriptor, base + count, size - count, off_t(count))
                if result > 0 { count += result } else if result == 0 || errno != EINTR { break }
            }
        }
        return bytes.count == size ? Array(bytes.prefix { $0 != 0 }) : nil
    }

    private func key(_ code: UInt32, isDown: Bool) {
        guard let input = keyboard?.input(code: code, isDown: isDown, state: state) else { return }
        let (isTaken, pasted) = shortcut.take(input)
        if !isTaken { queue.push(.key(input)) }
        // The text that was marked last needs an interface that not every compositor has.
        if pasted != nil { clipboard?.paste() }
    }

    // MARK: Pointers

    /// The X server's number of a button of the kernel's: the middle one is the second, and 4 to 7 are the wheel's.
    static func button(_ code: UInt32) -> Int? {
        switch code {
        case 0x110: 1
        case 0x111: 3
        case 0x112: 2
        case 0x113...0x11F: Int(code - 0x113) + 8
        default: nil
        }
    }

    private func pushScrolled() {
        guard let notches = scrolled.take() else { return }
        queue.push(.wheel(WheelInput(notches, at: pointer.point(place), modifiers: KeyModifiers(state: state))))
    }

    private func touch(_ number: Int32, _ phase: ServerEvent.TouchPhase, _ place: Pixel) {
        fingerPlaces[number] = phase == .ended ? nil : place
        let input = fingers.touch(UInt32(bitPattern: number), phase, at: place, state: state)
        if let input { queue.push(input) }
    }
}

/// The parts of one movement of a wheel or of fingers on a touchpad, until all of them have arrived.
struct ScrolledAmount {
    private var pixels = Point(0, 0)
    private var notches = Point(0, 0)
    private var hasNotches = false
    /// By convention, a notch of a wheel moves by 10 pixels.
    private static let pixelsOfNotch = 10.0

    mutating func add(_ axis: SeatEvent.ScrollAxis, pixels: Double) {
        if axis == .vertical { self.pixels.y += pixels } else { self.pixels.x += pixels }
    }

    mutating func add(_ axis: SeatEvent.ScrollAxis, notches: Int) {
        hasNotches = true
        if axis == .vertical { self.notches.y += Double(notches) } else { self.notches.x += Double(notches) }
    }

    /// Returns the number of notches, with fractions for fingers, and begins anew; nil if nothing has moved.
    mutating func take() -> Point? {
        defer { self = ScrolledAmount() }
        if hasNotches { return notches }
        if pixels == Point(0, 0) { return nil }
        return Point(pixels.x / Self.pixelsOfNotch, pixels.y / Self.pixelsOfNotch)
    }
}
#endif
