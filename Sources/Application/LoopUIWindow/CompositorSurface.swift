// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

#if Window
internal import CLoopUIWayland
internal import LoopUI

/// The size of a surface, within what its memory may take.
struct SurfaceSize: Hashable {
    let width: Int
    let height: Int

    /// The maximum width and height.
    static let maxSide = 16384
    /// The maximum number of pixels, of which two buffers have 512 MiB.
    static let maxPixels = 1 << 26

    /// The nearest size that is allowed.
    init(width: Int, height: Int) {
        self.width = min(max(1, width), Self.maxSide)
        self.height = min(max(1, height), Self.maxSide, Self.maxPixels / self.width)
    }

    /// Returns the greatest scale, at most `wanted`, with which the surface stays within the limits of its sides and pixels.
    func scale(_ wanted: Int) -> Int {
        var scale = min(max(1, wanted), Self.maxScale)
        while scale > 1,
            width * scale > Self.maxSide || height * scale > Self.maxSide
                || width * height * scale * scale > Self.maxPixels
        { scale -= 1 }
        return scale
    }

    /// The maximum scale: no screen has been seen with more than 4.
    static let maxScale = 8
}

/// How much the outputs enlarge that a window is on.
struct OutputScales {
    private var scales: [OpaquePointer: Int] = [:]
    private var entered: Set<OpaquePointer> = []

    /// Notes the scale of an output.
    mutating func set(_ scale: Int, of output: OpaquePointer) { scales[output] = scale }
    /// Notes that a part of the window is on an output.
    mutating func enter(_ output: OpaquePointer) { entered.insert(output) }
    /// Notes that no part of the window is on an output any more.
    mutating func leave(_ output: OpaquePointer) { entered.remove(output) }

    /// The greatest scale among the outputs that the window is on; among all of them if it is on none.
    var greatest: Int {
        let known = entered.isEmpty ? Array(scales.values) : entered.compactMap { scales[$0] }
        return known.max() ?? 1
    }
}

/// The one window on a compositor: its title, its sizes and what it shows.
@MainActor final class CompositorSurface {
    let object: OpaquePointer
    private let base: OpaquePointer
    private let xdgSurface: OpaquePointer
    private let toplevel: OpaquePointer
    private var decoration: OpaquePointer?
    /// The configuration that the next buffer follows.
    private var serial: UInt32?
    /// Whether the compositor has said how the window begins, so that it may show something.
    private(set) var isConfigured = false
    /// Whether the window shows something; before, it has no frames.
    private(set) var hasContent = false

    /// Makes a window that shows nothing yet; nil if the compositor refuses an object.
    ///
    /// - Parameters:
    ///   - connection: The connection to the compositor.
    ///   - compositor: The compositor's object for surfaces.
    ///   - base: The compositor's object for windows.
    ///   - program: The name that the compositor knows the program by.
    ///   - cell: The smallest size of the window, in pixels.
    init?(
        _ connection: CompositorConnection, _ compositor: OpaquePointer, _ base: OpaquePointer, program: String,
        cell: Size
    ) {
        guard let surface = wl_compositor_create_surface(compositor),
            let xdgSurface = rlw_get_xdg_surface(base, surface), let toplevel = rlw_get_toplevel(xdgSurface)
        else { return nil }
        (object, self.base, self.xdgSurface, self.toplevel) = (surface, base, xdgSurface, toplevel)
        connection.listen(to: base, as: .base)
        connection.listen(to: surface, as: .surface)
        connection.listen(to: xdgSurface, as: .xdgSurface)
        connection.listen(to: toplevel, as: .toplevel)
        rlw_set_app_id(toplevel, Self.messageText(program))
        rlw_set_min_size(toplevel, Int32(cell.width), Int32(cell.height))
        // A compositor without this object leaves the window without a title bar, or draws one anyway.
        if let decorations = connection.bind("zxdg_decoration_manager_v1", maxVersion: 1) {
            decoration = rlw_ask_for_decoration(decorations, toplevel)
            rlw_destroy(decorations)
        }
        // Without a buffer: asks for the first configuration.
        wl_surface_commit(surface)
    }

    /// Sets the title.
    func setTitle(_ title: String) { rlw_set_title(toplevel, Self.messageText(title)) }

    /// Returns the beginning of a text as it is shown, at most 1,024 bytes of UTF-8: libwayland ends the program at a
    /// message of more than 4,096 bytes.
    nonisolated static func messageText(_ text: String) -> String {
        var (result, room) = ("", 1024)
        for character in text.shown(limit: 256) {
            room -= character.utf8.count
            if room < 0 { break }
            result.append(character)
        }
        return result
    }

    /// Answers the compositor's question whether the program lives.
    func answerPing(_ serial: UInt32) { rlw_pong(base, serial) }

    /// Notes a new configuration.
    ///
    /// - Parameter isShown: Whether what is shown follows the configuration already.
    func configure(_ serial: UInt32, isShown: Bool) {
        isConfigured = true
        self.serial = serial
        if isShown {
            acknowledge()
            wl_surface_commit(object)
        }
    }

    private func acknowledge() {
        // The buffer after the answer has to have the configured size.
        if let serial { rlw_ack_configure(xdgSurface, serial) }
        serial = nil
    }

    /// Whether the compositor lets a buffer have several pixels for each unit of the surface (version 3 of wl_surface).
    var mayScale: Bool { wl_surface_get_version(object) >= 3 }
    /// The scale of the buffers that are shown.
    private var scale = 1

    /// Shows a buffer.
    ///
    /// - Parameters:
    ///   - buffer: A buffer of the configured size.
    ///   - scale: The number of its pixels for each unit of the surface; 1 if ``mayScale`` is `false`.
    ///   - changes: The parts in which it differs from what is shown.
    func show(_ buffer: OpaquePointer, scale: Int, changes: DamagedArea) {
        hasContent = true
        acknowledge()
        if scale != self.scale {
            self.scale = scale
            wl_surface_set_buffer_scale(object, Int32(scale))
        }
        wl_surface_attach(object, buffer, 0, 0)
        for area in changes.areas {
            wl_surface_damage(object, Int32(area.x), Int32(area.y), Int32(area.width), Int32(area.height))
        }
        wl_surface_commit(object)
    }

    /// Asks for a callback at the next frame of the window's output.
    func askForFrame() -> OpaquePointer? {
        defer { wl_surface_commit(object) }
        return wl_surface_frame(object)
    }

    /// Destroys the window.
    func destroy() {
        if let decoration { rlw_destroy(decoration) }
        rlw_destroy(toplevel)
        rlw_destroy(xdgSurface)
        wl_surface_destroy(object)
    }
}
#endif
