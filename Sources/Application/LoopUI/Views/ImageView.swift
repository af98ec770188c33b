// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

internal import RunLoops
internal import RunLoopsKit

/// A view that shows a picture, which may come from a loader's thread.
///
/// A loaded picture is set in the default mode only: while the user scrolls, the loop runs in the tracking mode, and no
/// picture is set.
@MainActor open class ImageView: View {
    /// How the picture fills the view; its shape is kept.
    public enum ContentMode: Hashable, Sendable {
        /// All of the picture is visible, as large as the view allows.
        case fit
        /// All of the view is filled; the parts of the picture outside the view are cut off.
        case fill
    }

    /// The picture that the view shows.
    public var picture: Picture? { didSet { if picture != oldValue { setNeedsDisplay() } } }

    /// How the picture fills the view; ``ContentMode/fit`` unless set.
    public var contentMode = ContentMode.fit { didSet { setNeedsDisplay() } }

    /// Makes a view that shows a picture.
    public convenience init(picture: Picture?) {
        self.init()
        self.picture = picture
        frame.size = picture?.size ?? .zero
    }

    open override var accessibilityRole: String? { "picture" }

    private var abilities: DisplayAbilities { window?.application?.display.abilities ?? DisplayAbilities() }

    /// Returns the size of a picture in points at which its proportions are kept on the display.
    private func size(of picture: Picture) -> Size {
        let aspect = abilities.pointAspect
        return Size(Double(picture.width), Double(picture.height) / (aspect > 0 && aspect.isFinite ? aspect : 2))
    }

    /// Returns the picture's own size, or a smaller one if there is no room for it.
    open override func sizeThatFits(_ size: Size) -> Size {
        guard let picture, size.width > 0, size.height > 0 else { return .zero }
        let own = self.size(of: picture)
        let scale = min(1, size.width / max(1, own.width), size.height / max(0.5, own.height))
        return Size((own.width * scale).rounded(), (own.height * scale).rounded(.up))
    }

    /// Draws the picture: with its own pixels if the display can show pixels, else in half blocks, or in characters if
    /// the display has no colours or no half blocks.
    open override func draw(in canvas: inout Canvas) {
        guard let picture, picture.width > 0, picture.height > 0 else { return }
        canvas.draw(picture, in: place(of: size(of: picture), in: canvas.size), style: Self.style(abilities))
    }

    private static func style(_ abilities: DisplayAbilities) -> Canvas.PictureStyle {
        if abilities.hasPictures { return .pixels }
        return abilities.hasUnicode && abilities.colors != .none ? .halfBlocks : .characters
    }

    /// Returns the rectangle of the picture in the view's own coordinates.
    private func place(of size: Size, in room: Size) -> Rect {
        let (across, down) = (room.width / size.width, room.height / size.height)
        let scale = contentMode == .fit ? min(across, down) : max(across, down)
        // A flat or thin picture keeps a cell.
        let (width, height) = (max(1, size.width * scale), max(1, size.height * scale))
        let corner = Point((room.width - width) / 2, (room.height - height) / 2)
        return Rect(corner.x.rounded(.down), corner.y.rounded(.down), width.rounded(), height.rounded())
    }

    // MARK: Loading

    /// A load under way; releasing the object cancels the load.
    private final class Load: Sendable {}

    private var load: Load?

    /// Whether a load is under way.
    public var isLoading: Bool { load != nil }

    /// Runs the work of all loads, one after the other.
    private static let thread = Result { try RunLoopThread(name: "pictures") }

    /// Runs the work of a load on another thread; tests replace the closure.
    package var loader: (@escaping @Sendable () -> Void) throws -> Void = { try thread.get().post($0) }

    /// Makes a picture on a thread that all image views share, and shows the picture.
    ///
    /// The picture is set on the loop of the calling thread, in the default mode only. The load is cancelled by the
    /// next one, by ``cancelLoad()``, and when the view leaves its window. The work of a cancelled load is not called
    /// if it has not begun yet, and its picture is not set.
    ///
    /// - Parameters:
    ///   - completion: Called with the picture when it is shown, or with the error that `work` has thrown; not called
    ///     after a cancellation. An error leaves ``picture`` as it is.
    ///   - work: Returns the picture; called on the thread.
    public func load(
        completion: ((Result<Picture, any Error>) -> Void)? = nil, _ work: @escaping @Sendable () throws -> Picture
    ) {
        let load = Load()
        self.load = load
        self.completion = completion
        let loop = RunLoop.current
        do {
            try loader { [weak load, weak self] in
                guard let load else { return }
                let result = Result { try work() }
                loop.perform(in: .default) { [weak self] in
                    MainActor.assumeIsolated { self?.finish(load, result) }
                }
            }
        } catch {
            finish(load, .failure(error))
        }
    }

    private var completion: ((Result<Picture, any Error>) -> Void)?

    /// Cancels the load under way, if there is one.
    public func cancelLoad() {
        load = nil
        completion = nil
    }

    private func finish(_ load: Load, _ result: Result<Picture, any Error>) {
        guard self.load === load else { return }
        let completion = completion
        cancelLoad()
        if case .success(let picture) = result { self.picture = picture }
        completion?(result)
    }

    open override func didMoveToWindow() {
        super.didMoveToWindow()
        if window == nil { cancelLoad() }
    }
}
