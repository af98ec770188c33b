// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

/// A device that shows frames and takes input: a terminal, a window, or a display made for a test.
///
/// The application opens its display when it launches and closes it when it ends. All members are called on the main
/// actor.
@MainActor public protocol Display: AnyObject {
    /// The size of the display, in points.
    var size: Size { get }
    /// The abilities of the display; known when the display is open.
    var abilities: DisplayAbilities { get }

    /// Opens the device, and adds the sources that put its input into the queue.
    ///
    /// - Throws: an error of the display, if the display cannot be used.
    func open(_ input: InputQueue) throws

    /// Asks for one report of the next frame of the screen; does nothing and returns false unless implemented.
    ///
    /// A display that knows when the frames of its screen begin calls ``InputQueue/screenFrameBegan(at:number:)`` at the
    /// beginning of the next frame, so that animations and decelerations are in step with the screen. The application
    /// asks for each frame anew. If no report comes in time, the application uses its own 60 frames a second, and asks
    /// once more. A single report then answers both requests.
    ///
    /// - Returns: Whether the frame will be reported; if not, the application uses its own 60 frames a second.
    func requestScreenFrame() -> Bool

    /// Shows a frame; never blocks.
    ///
    /// A display that returns ``Presentation/busy`` has not taken the frame, and calls ``InputQueue/displayIsReady()``
    /// when it can take the next one.
    func present(_ frame: Frame) -> Presentation

    /// Shows a notification to the user; does nothing and returns false unless implemented.
    ///
    /// - Parameter text: The text, in one row and without control characters.
    /// - Returns: Whether the display hands the notification on.
    func presentNotification(_ text: String) -> Bool

    /// Marks the program's window for a user who looks at another one; does nothing and returns false unless implemented.
    ///
    /// The application calls this only while its window does not have the focus. The mark ends when the window gets it.
    ///
    /// - Returns: Whether the display hands the request on.
    func requestUserAttention() -> Bool

    /// Releases the device for a while, because the program is about to be stopped; the display may also stop the program
    /// itself.
    ///
    /// When the program continues, the display pushes ``RawInput/resumed``.
    func suspend()

    /// Opens the device again; the next frame is shown in full.
    func resume()

    /// Releases the device for good; a second call does nothing.
    func close()
}

extension Display {
    /// Returns false, so that the application uses its own 60 frames a second.
    public func requestScreenFrame() -> Bool { false }

    /// Returns false: the display has no notifications.
    public func presentNotification(_ text: String) -> Bool { false }

    /// Returns false: the display has no mark for a window.
    public func requestUserAttention() -> Bool { false }
}

/// The result of presenting a frame.
public enum Presentation: Hashable, Sendable {
    /// The display has taken the frame.
    case taken
    /// The display has not taken the frame, because it still shows an earlier one.
    case busy
}

/// The abilities of a display.
public struct DisplayAbilities: Hashable, Sendable {
    /// The colours that a display can show.
    public enum Colors: Int, Hashable, Sendable, Comparable {
        /// The display has no colours, or the user wants none.
        case none
        /// The 16 colours that the user has chosen.
        case palette16
        /// A palette of 256 colours.
        case palette256
        /// Any colour of red, green and blue.
        case direct

        /// Whether `left` has fewer colours than `right`.
        public static func < (left: Colors, right: Colors) -> Bool { left.rawValue < right.rawValue }
    }

    /// The colours that a display can show.
    public var colors = Colors.direct
    /// Whether the user has a mouse or a touchscreen.
    public var hasPointer = true
    /// Whether the display can show lines and signs beyond ASCII.
    public var hasUnicode = true
    /// Whether the display can show the pixels of pictures, in addition to cells.
    public var hasPictures = false
    /// Whether the display opens the links of text (``Style/link``).
    public var hasLinks = false
    /// The height of a point divided by its width, as the user sees it; 2 if the display does not know.
    public var pointAspect = 2.0
    /// Whether the display says when it gets and loses the focus.
    public var reportsFocus = true
    /// Whether the display says when a key goes up.
    public var reportsKeyEnds = false
    /// Whether the display is read line by line, as by a screen reader.
    ///
    /// Sheets, alerts and menus then take the whole width and have no border, so that their lines contain nothing else.
    public var isLinear = false
    /// Whether the display still shows its last frame, or what has become of it, after it was closed.
    ///
    /// The application then shows its last changes when it ends.
    public var keepsLastFrame = false
    /// Whether the user wants reduced motion.
    ///
    /// Animated values then change at once, content does not decelerate, and spinners stand still.
    public var reducesMotion = false

    /// Makes the abilities of a common colour display, with a pointer and Unicode, but without pictures and links.
    public init() {}
}

/// The content of the whole display at one time.
public struct Frame: Hashable, Sendable {
    /// The cells that are shown.
    public var cells: CellGrid
    /// The pictures that the display shows with their own pixels, from back to front; none for a display without that
    /// ability.
    public var pictures: [PlacedPicture]
    /// The position of the cursor, in points; the cursor is hidden if `nil`.
    public var cursor: Point?
    /// The title of the window or terminal; unchanged if `nil`.
    public var title: String?
    /// The rows that may differ from the last frame that the display has taken; all rows if `nil`, or if that frame had
    /// another size.
    ///
    /// A display may look at all rows instead, and has to if it no longer knows what it shows.
    public var changedRows: Range<Int>?

    /// Makes a frame of cells.
    ///
    /// - Parameters:
    ///   - cells: The cells that are shown.
    ///   - pictures: The pictures that the display shows with their own pixels, from back to front.
    ///   - cursor: The position of the cursor, in points; the cursor is hidden if `nil`.
    ///   - title: The title of the window or terminal; unchanged if `nil`.
    ///   - changedRows: The rows that may differ from the frame before; all rows if `nil`.
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
