// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

#if Window
internal import CLoopUIWayland
internal import CLoopUIXCB
internal import CRunLoopsKernel
internal import RunLoopsLibC

/// A picture in the program's memory, which is copied to buffers of the compositor.
///
/// Sizes, places and what is drawn have the unit of the surface; the picture has `scale` pixels for each, in each direction.
final class MemoryPicture {
    let width: Int
    let height: Int
    let scale: Int
    /// Cairo's drawing context.
    let drawing: OpaquePointer
    private let surface: OpaquePointer
    private let pixels: UnsafeMutablePointer<UInt8>
    /// The number of bytes of a row.
    let stride: Int

    /// Makes a picture with opaque pixels of four bytes; nil without memory.
    ///
    /// - Parameters:
    ///   - width: The width, in units of the surface.
    ///   - height: The height, in units of the surface.
    ///   - scale: The number of pixels for each unit.
    init?(width: Int, height: Int, scale: Int) {
        guard
            let surface = cairo_image_surface_create(CAIRO_FORMAT_RGB24, CInt(width * scale), CInt(height * scale))
        else { return nil }
        // Before the drawing context, which takes it over: letters are as fine as the pixels allow.
        cairo_surface_set_device_scale(surface, Double(scale), Double(scale))
        guard let drawing = cairo_create(surface) else { return nil }
        guard let pixels = cairo_image_surface_get_data(surface) else {
            cairo_destroy(drawing)
            cairo_surface_destroy(surface)
            return nil
        }
        (self.width, self.height, self.scale) = (width, height, scale)
        (self.surface, self.drawing, self.pixels) = (surface, drawing, pixels)
        stride = Int(cairo_image_surface_get_stride(surface))
    }

    deinit {
        cairo_destroy(drawing)
        cairo_surface_destroy(surface)
    }

    /// Makes Cairo finish what was drawn.
    func finishDrawing() { cairo_surface_flush(surface) }

    /// The whole picture.
    var area: PixelRect { PixelRect(x: 0, y: 0, width: width, height: height) }

    /// The number of rows of pixels.
    var rows: Int { height * scale }

    /// Copies a part of the picture to memory with rows of the same length.
    func copy(_ area: PixelRect, to memory: UnsafeMutableRawPointer) {
        // The last frame may have more cells than a window that has become smaller.
        let (left, right) = (max(0, area.x) * scale, min(width, area.x + area.width) * scale)
        let (top, bottom) = (max(0, area.y) * scale, min(height, area.y + area.height) * scale)
        guard left < right, top < bottom else { return }
        // SAFETY: both have `rows` rows of `stride` bytes, of which the first `width * scale` times four are pixels.
        for row in top..<bottom {
            let offset = row * stride + left * 4
            memcpy(memory + offset, pixels + offset, (right - left) * 4)
        }
    }
}

/// Memory that is shared with the compositor.
final class SharedMemory {
    /// The descriptor that the compositor gets, as long as the memory is in use here.
    let descriptor: CInt
    let bytes: UnsafeMutableRawPointer
    let length: Int

    /// Makes memory with zero bytes; nil if there is not that much.
    init?(length: Int) {
        let descriptor = rl_made(rlw_memory(length))
        if descriptor < 0 { return nil }
        let bytes = mmap(nil, length, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0)
        guard let bytes, bytes != MAP_FAILED else {
            close(descriptor)
            return nil
        }
        (self.descriptor, self.bytes, self.length) = (descriptor, bytes, length)
    }

    deinit {
        munmap(bytes, length)
        close(descriptor)
    }
}

/// Two buffers of one size in memory that is shared with the compositor: one is shown while the other is written.
@MainActor final class SharedBuffers {
    /// A buffer.
    @MainActor final class Buffer {
        let object: OpaquePointer
        fileprivate let memory: UnsafeMutableRawPointer
        /// Whether the compositor may be reading the buffer.
        fileprivate(set) var isBusy = false
        /// The parts of the picture that have changed since the buffer was written.
        fileprivate var stale: DamagedArea

        fileprivate init(_ object: OpaquePointer, _ memory: UnsafeMutableRawPointer, _ stale: DamagedArea) {
            (self.object, self.memory, self.stale) = (object, memory, stale)
        }
    }

    private let memory: SharedMemory
    private var buffers: [Buffer] = []

    /// Makes two buffers as large as a picture; nil if there is no memory.
    ///
    /// - Parameters:
    ///   - connection: The connection to the compositor.
    ///   - shm: The compositor's object for shared memory.
    ///   - picture: A picture with at most ``SurfaceSize/maxPixels``, so that no number here exceeds 31 bits.
    init?(_ connection: CompositorConnection, _ shm: OpaquePointer, for picture: MemoryPicture) {
        let size = picture.stride * picture.rows
        guard let memory = SharedMemory(length: size * 2),
            let pool = wl_shm_create_pool(shm, memory.descriptor, Int32(memory.length))
        else { return nil }
        self.memory = memory
        for index in 0..<2 {
            let object = wl_shm_pool_create_buffer(
                pool, Int32(index * size), Int32(picture.width * picture.scale), Int32(picture.rows),
                Int32(picture.stride),
                WL_SHM_FORMAT_XRGB8888.rawValue)
            guard let object else { continue }
            connection.listen(to: object, as: .buffer)
            buffers.append(Buffer(object, memory.bytes + index * size, DamagedArea([picture.area])))
        }
        wl_shm_pool_destroy(pool)
    }

    /// A buffer that the compositor does not read; nil if it may read both.
    var free: Buffer? { buffers.first { !$0.isBusy } }

    /// Whether the compositor may be reading one of the buffers.
    var isBusy: Bool { buffers.contains(where: \.isBusy) }

    /// Brings a buffer up to date; it counts as read by the compositor from now on.
    ///
    /// - Parameters:
    ///   - buffer: One of the buffers, which is free.
    ///   - picture: The picture to show.
    ///   - changes: The parts of the picture that have changed since the last call.
    func write(_ buffer: Buffer, from picture: MemoryPicture, changes: DamagedArea) {
        for buffer in buffers { buffer.stale.formUnion(changes) }
        for area in buffer.stale.areas { picture.copy(area, to: buffer.memory) }
        buffer.stale = DamagedArea()
        buffer.isBusy = true
    }

    /// Notes that the compositor no longer reads a buffer; returns false if the buffer is not one of these.
    func noteRelease(of object: OpaquePointer) -> Bool {
        guard let buffer = buffers.first(where: { $0.object == object }) else { return false }
        buffer.isBusy = false
        return true
    }

    /// Destroys the buffers on the compositor.
    func destroy() {
        for buffer in buffers { wl_buffer_destroy(buffer.object) }
        buffers = []
    }
}
#endif
