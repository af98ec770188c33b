// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

#if Window
internal import CLoopUIWayland
internal import CLoopUIXCB

/// The arrow of the pointer over the window, which on Wayland each program draws itself.
@MainActor final class PointerImage {
    private let surface: OpaquePointer
    private let buffer: OpaquePointer
    private static let (width, height) = (16, 24)

    /// Draws the arrow; nil without memory.
    init?(_ compositor: OpaquePointer, _ shm: OpaquePointer) {
        let (stride, size) = (Self.width * 4, Self.width * Self.height * 4)
        // The compositor keeps the memory until the buffer is destroyed.
        guard let memory = SharedMemory(length: size),
            let pool = wl_shm_create_pool(shm, memory.descriptor, Int32(size))
        else { return nil }
        Self.draw(memory.bytes.assumingMemoryBound(to: UInt8.self), stride)
        defer { wl_shm_pool_destroy(pool) }
        guard let surface = wl_compositor_create_surface(compositor),
            let buffer = wl_shm_pool_create_buffer(
                pool, 0, Int32(Self.width), Int32(Self.height), Int32(stride), WL_SHM_FORMAT_ARGB8888.rawValue)
        else { return nil }
        (self.surface, self.buffer) = (surface, buffer)
        wl_surface_attach(surface, buffer, 0, 0)
        wl_surface_damage(surface, 0, 0, Int32(Self.width), Int32(Self.height))
        wl_surface_commit(surface)
    }

    private static func draw(_ pixels: UnsafeMutablePointer<UInt8>, _ stride: Int) {
        // SAFETY: the memory has `height` rows of `stride` bytes, and outlives the surface.
        let image = cairo_image_surface_create_for_data(
            pixels, CAIRO_FORMAT_ARGB32, CInt(width), CInt(height), CInt(stride))
        let drawing = cairo_create(image)
        let corners = [(1.5, 1.5), (1.5, 17.5), (5.5, 14), (8, 20), (10.5, 19), (8, 13), (13, 13)]
        for (x, y) in corners { cairo_line_to(drawing, x, y) }
        cairo_close_path(drawing)
        cairo_set_source_rgb(drawing, 0, 0, 0)
        cairo_fill_preserve(drawing)
        cairo_set_source_rgb(drawing, 1, 1, 1)
        cairo_set_line_width(drawing, 1)
        cairo_stroke(drawing)
        cairo_destroy(drawing)
        cairo_surface_destroy(image)
    }

    /// Shows the arrow while the pointer is over the window.
    func show(on pointer: OpaquePointer, _ serial: UInt32) { wl_pointer_set_cursor(pointer, serial, surface, 1, 1) }

    /// Destroys the arrow on the compositor.
    func destroy() {
        wl_buffer_destroy(buffer)
        wl_surface_destroy(surface)
    }
}
#endif
