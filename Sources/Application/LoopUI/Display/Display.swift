// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

/// Something that shows frames and takes input: a terminal, a window, or a test's own.
///
/// The application opens its display when it launches and closes it when it ends. All members are called on the main
/// actor.
@MainActor public protocol Display: AnyObject {
    /// How many points it shows.
    var size: Size { get }
    /// What it can do; known once it is open.
    var abilities: DisplayAbilities { get }

    /// Takes the device, and adds the sources that fill the queue.
    ///
    /// - Throws: what keeps the display from being used, as the error of the display.
    func open(_ input: InputQueue) throws

    /// Has the next frame of the screen reported, once; does nothing and returns false unless implemented.
    ///
    /// A display that hears of its screen's frames calls ``InputQueue/screenFrameBegan(at:number:)`` when the next one begins, and
    /// animations and decelerations are in step with the screen. Each frame is asked for. If no report has come in time, the
    /// application goes on by its own grid, and asks once more: one report answers both.
    ///
    /// - Returns: Whether the frame will be reported; if not, the application takes a grid of 60 frames a second.
    func requestScreenFrame() -> Bool

    /// Shows a frame; never blocks.
    ///
    /// A display that is ``Presentation/busy`` has not taken the frame, and calls
    /// ``InputQueue/displayIsReady()`` when it can take the next one.
    func present(_ frame: Frame) -> Presentation

    /// Gives the device back for a while: the program is about to be stopped, or to be stopped is what this does.
    ///
    /// When the program goes on, the display pushes ``RawInput/resumed``.
    func suspend()

    /// Takes the device again; the next frame is shown whole.
    func resume()

    /// Gives the device back for good; a second call does nothing.
    func close()
}

extension Display {
    /// Does nothing: the application takes its own grid.
    public func requestScreenFrame() -> Bool { false }
}

/// The result of presenting a frame.
public enum Presentation: Hashable, Sendable {
    /// The display has it.
    case taken
    /// The display is still at an earlier one.
    case busy
}

/// What a display can do.
public struct DisplayAbilities: Hashable, Sendable {
    /// How many colours there are.
    public enum Colors: Int, Hashable, Sendable, Comparable {
        /// None, or none are wanted.
        case none
        /// The user's 16.
        case palette16
        /// A palette of 256.
        case palette256
        /// Any.
        case direct

        /// Whether there are fewer.
        public static func < (left: Colors, right: Colors) -> Bool { left.rawValue < right.rawValue }
    }

    /// How many colours there are.
    public var colors = Colors.direct
    /// Whether there is a mouse or a finger.
    public var hasPointer = true
    /// Whether lines and signs beyond ASCII can be shown.
    public var hasUnicode = true
    /// Whether pictures are shown with their own pixels, beside the cells.
    public var hasPictures = false
    /// How much higher than wide a point looks; 2 where the display does not know.
    public var pointAspect = 2.0
    /// Whether the display says when it gets and loses the focus.
    public var reportsFocus = true
    /// Whether the display says when a key goes up.
    public var reportsKeyEnds = false
    /// Whether the display is read line by line, as by a screen reader.
    ///
    /// Sheets, alerts and menus then take the whole width and have no border: nothing else is in their lines.
    public var isLinear = false
    /// Whether the user wants nothing to move by itself.
    public var reducesMotion = false

    /// The abilities of a display that can do everything usual.
    public init() {}
}

/// A picture of the whole application at one time.
public struct Frame: Hashable, Sendable {
    /// What is seen.
    public var cells: CellGrid
    /// The pictures that the display shows with their own pixels, from back to front; none for a display without that
    /// ability.
    public var pictures: [PlacedPicture]
    /// Where the cursor stands; it is hidden if there is none.
    public var cursor: Point?
    /// The title of the window or terminal; unchanged if `nil`.
    public var title: String?
    /// The rows that may differ from the last frame that the display has taken, if that had this size; any if `nil`.
    ///
    /// A display that has forgotten what it shows, or that wants no such help, looks at all rows.
    public var changedRows: Range<Int>?

    /// A frame of cells.
    ///
    /// - Parameters:
    ///   - cells: What is seen.
    ///   - pictures: What is shown with its own pixels, from back to front.
    ///   - cursor: Where the cursor stands; it is hidden if there is none.
    ///   - title: The title of the window or terminal; unchanged if `nil`.
    ///   - changedRows: The rows that may differ from the frame before; any if `nil`.
    public init(
        cells: CellGrid, pictures: [PlacedPicture] = [], cursor: Point? = nil, title: String? = nil,
        changedRows: Range<Int>? = nil
    ) {
        self.cells = cells
        self.pictures = pictures
        self.cursor = cursor
        self.title = title
        self.changedRows = changedRows
    }
}
