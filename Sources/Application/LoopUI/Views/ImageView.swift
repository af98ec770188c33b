// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

internal import RunLoops
internal import RunLoopsKit

/// A view that shows a picture, which may come from a loader's thread.
///
/// A loaded picture is set in the default mode only: while the user scrolls, the loop runs in the tracking mode, and no
/// picture comes in between.
@MainActor open class ImageView: View {
    /// How the picture fills the view; its shape is kept.
    public enum ContentMode: Hashable, Sendable {
        /// All of the picture is seen, as large as it goes.
        case fit
        /// All of the view is filled; what stands out is cut.
        case fill
    }

    /// The picture that is seen.
    public var picture: Picture? { didSet { if picture != oldValue { setNeedsDisplay() } } }

    /// How the picture fills the view; all of it is seen unless set.
    public var contentMode = ContentMode.fit { didSet { setNeedsDisplay() } }

    /// A view that shows a picture.
    public convenience init(picture: Picture?) {
        self.init()
        self.picture = picture
        frame.size = picture?.size ?? .zero
    }

    open override var accessibilityRole: String? { "picture" }

    private var abilities: DisplayAbilities { window?.application?.display.abilities ?? DisplayAbilities() }

    /// The size in points at which pixels keep their shape on the display.
    private func size(of picture: Picture) -> Size {
        let aspect = abilities.pointAspect
        return Size(Double(picture.width), Double(picture.height) / (aspect > 0 && aspect.isFinite ? aspect : 2))
    }

    /// The picture's own size, smaller if there is no room for it.
    open override func sizeThatFits(_ size: Size) -> Size {
        guard let picture, size.width > 0, size.height > 0 else { return .zero }
        let own = self.size(of: picture)
        let scale = min(1, size.width / max(1, own.width), size.height / max(0.5, own.height))
        return Size((own.width * scale).rounded(), (own.height * scale).rounded(.up))
    }

    /// Draws the picture: with its own pixels where the display has that ability, else in half blocks, or in characters
    /// where there are neither colours nor such signs.
    open override func draw(in canvas: inout Canvas) {
        guard let picture, picture.width > 0, picture.height > 0 else { return }
        canvas.draw(picture, in: place(of: size(of: picture), in: canvas.size), style: Self.style(abilities))
    }

    private static func style(_ abilities: DisplayAbilities) -> Canvas.PictureStyle {
        if abilities.hasPictures { return .pixels }
        return abilities.hasUnicode && abilities.colors != .none ? .halfBlocks : .characters
    }

    /// Where the picture comes, in the view's own coordinates.
    private func place(of size: Size, in room: Size) -> Rect {
        let (across, down) = (room.width / size.width, room.height / size.height)
        let scale = contentMode == .fit ? min(across, down) : max(across, down)
        // A flat or thin picture keeps a cell.
        let (width, height) = (max(1, size.width * scale), max(1, size.height * scale))
        let corner = Point((room.width - width) / 2, (room.height - height) / 2)
        return Rect(corner.x.rounded(.down), corner.y.rounded(.down), width.rounded(), height.rounded())
    }

    // MARK: Loading

    /// A load under way; whoever drops it cancels it.
    private final class Load: Sendable {}

    private var load: Load?

    /// Whether a picture is awaited.
    public var isLoading: Bool { load != nil }

    /// Runs the work of all loads, one after the other.
    private static let thread = Result { try RunLoopThread(name: "pictures") }

    /// Runs the work of a load elsewhere; tests replace it.
    package var loader: (@escaping @Sendable () -> Void) throws -> Void = { try thread.get().post($0) }

    /// Does work on a thread that all views share, and shows the picture that comes of it.
    ///
    /// The picture is set on the loop of the calling thread, in the default mode only. The load is cancelled by the
    /// next one, by ``cancelLoad()``, and when the view leaves its window: work that has not begun is left out then,
    /// and no picture is set.
    ///
    /// - Parameters:
    ///   - completion: Receives the picture when it is shown, or what the work has thrown; not called after a
    ///     cancellation. An error leaves ``picture`` as it is.
    ///   - work: Makes the picture, on the thread.
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

    /// Waits for no picture any more.
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
