// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

#if Window
internal import CLoopUIWayland
internal import CRunLoopsKernel
internal import LoopUI
internal import RunLoops
internal import RunLoopsEvents
internal import RunLoopsLibC

/// The clipboard of a compositor's seat: text of other programs, and the text that this program has copied.
///
/// A text goes from program to program through a pipe, which the loop reads and writes: no program waits for another one.
@MainActor final class CompositorClipboard {
    /// The forms in which text is asked for and given, the best first; all are UTF-8.
    nonisolated static let forms = ["text/plain;charset=utf-8", "UTF8_STRING", "text/plain"]
    /// The maximum number of bytes that are read of a text.
    nonisolated static let maxBytes = 4 << 20
    /// The maximum number of texts that are on their way at a time; each takes a descriptor until all of it was read or written.
    static let maxTransfers = 16

    private let connection: CompositorConnection
    private let queue: InputQueue
    private let manager: OpaquePointer
    private let device: OpaquePointer
    /// The offers of the compositor, each with the index of its best form.
    private var offers: [OpaquePointer: Int] = [:]
    /// The offer that is on the clipboard.
    private var selection: OpaquePointer?
    /// The offer of this program while it is on the clipboard.
    private var source: OpaquePointer?
    private var transfers: [ObjectIdentifier: EventSource] = [:]

    /// Makes the clipboard of a seat; nil if the compositor has none.
    init?(_ connection: CompositorConnection, seat: OpaquePointer, _ queue: InputQueue) {
        guard let manager = connection.bind("wl_data_device_manager", maxVersion: 1),
            let device = wl_data_device_manager_get_data_device(manager, seat)
        else { return nil }
        (self.connection, self.queue, self.manager, self.device) = (connection, queue, manager, device)
        connection.listen(to: device, as: .dataDevice)
    }

    /// Handles an event of the clipboard or of an offer.
    func handle(_ event: ClipboardEvent, of object: OpaquePointer) {
        switch event {
        case .offered(let offer):
            connection.listen(to: offer, as: .dataOffer)
            offers[offer] = Self.forms.count
        case .form(let form):
            guard let best = offers[object], let index = Self.forms.firstIndex(of: form) else { return }
            offers[object] = min(best, index)
        case .dragged(let offer):
            // The window takes nothing that is dropped on it.
            if let offer { forget(offer) }
        case .selected(let offer):
            if let selection, selection != offer { forget(selection) }
            selection = offer
        case .asked(let descriptor):
            if object == source { give(descriptor) } else { close(descriptor) }
        case .replaced:
            if object == source { source = nil }
            wl_data_source_destroy(object)
        }
    }

    private func forget(_ offer: OpaquePointer) {
        offers[offer] = nil
        wl_data_offer_destroy(offer)
    }

    // MARK: Taking

    /// Asks for the text on the clipboard, which the application receives as pasted when all of it is here.
    func paste() {
        if source != nil, let text = Pasteboard.general.text { return queue.push(.paste(text, isLast: true)) }
        guard transfers.count < Self.maxTransfers, let selection, let form = offers[selection], form < Self.forms.count
        else { return }
        var ends: [CInt] = [-1, -1]
        // The other program writes to one end as it likes, so this end does not block.
        guard rl_blocking_pipe(&ends) == 0 else { return }
        wl_data_offer_receive(selection, Self.forms[form], ends[1])
        // The request has a copy.
        close(ends[1])
        guard let file = try? RunLoop.File(adopting: ends[0]) else { return }
        var bytes: [UInt8] = []
        let reader = InputReader(file, as: .bytes, label: "Wayland clipboard") { [weak self] reader, event in
            switch event {
            case .received(let more):
                bytes += more
                if bytes.count <= Self.maxBytes { return }
                reader.invalidate()
            case .ended: self?.queue.push(.paste(String(decoding: bytes, as: UTF8.self), isLast: true))
            case .failed: break
            }
            self?.transfers[ObjectIdentifier(reader)] = nil
        }
        begin(reader, in: queue.modes)
    }

    // MARK: Giving

    /// Puts the program's pasteboard on the clipboard.
    ///
    /// - Parameter serial: The number of the user's last input, without which compositors ignore the request.
    func own(_ serial: UInt32) {
        guard Pasteboard.general.text != nil, let new = wl_data_device_manager_create_data_source(manager) else {
            return
        }
        connection.listen(to: new, as: .dataSource)
        for form in Self.forms { wl_data_source_offer(new, form) }
        wl_data_device_set_selection(device, new, serial)
        if let source { wl_data_source_destroy(source) }
        source = new
    }

    /// Writes the text for another program, as fast as it reads.
    private func give(_ descriptor: CInt) {
        let number = rl_made(descriptor)
        guard number >= 0 else { return }
        guard let text = Pasteboard.general.text, transfers.count < Self.maxTransfers,
            let file = try? RunLoop.File(adopting: number)
        else {
            close(number)
            return
        }
        let writer = OutputWriter(file, label: "Wayland clipboard") { [weak self] writer, event in
            if event != .drained { self?.transfers[ObjectIdentifier(writer)] = nil }
        }
        begin(writer, in: queue.systemModes)
        writer.write(text.utf8)
        writer.finish()
    }

    private func begin(_ transfer: EventSource, in modes: [RunLoop.Mode]) {
        do {
            for mode in modes { try queue.loop.add(transfer, in: mode) }
            transfers[ObjectIdentifier(transfer)] = transfer
        } catch {
            // The system watches no further descriptor: the text is lost, and its descriptor is closed.
            transfer.invalidate()
        }
    }

    // MARK: The end

    /// Gives up the texts that are on their way.
    func cancel() {
        for transfer in transfers.values { transfer.invalidate() }
        transfers = [:]
    }
}
#endif
