// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

#if Pictures
import LoopUI
import LoopUIPictures
import LoopUITerminal

/// A picture that can be moved (arrows), covered (`c`), hidden (`h`) and exchanged (`n`); `q` ends the program.
final class Board: View {
    private let image = ImageView(picture: Board.picture(0))
    private let cover = Label("in front of it")
    private let hint = Label("arrows move, c covers, h hides, n is the next one, q ends")
    private var number = 0

    override init(frame: Rect = .zero) {
        super.init(frame: frame)
        backgroundColor = .default
        image.frame = Rect(10, 3, 40, 14)
        image.contentMode = .fit
        cover.frame = Rect(22, 8, 14, 1)
        cover.backgroundColor = .palette(4)
        cover.isHidden = true
        for view in [image, cover, hint] { addSubview(view) }
    }

    override var canBecomeFirstResponder: Bool { true }

    override func layoutSubviews() { hint.frame = Rect(0, bounds.height - 1, bounds.width, 1) }

    override func pressesBegan(_ presses: Set<Press>, with event: Event?) {
        for press in presses {
            switch press.key {
            case .left: image.frame.origin.x -= 1
            case .right: image.frame.origin.x += 1
            case .up: image.frame.origin.y -= 1
            case .down: image.frame.origin.y += 1
            case .character("c"): cover.isHidden.toggle()
            case .character("h"): image.isHidden.toggle()
            case .character("n"):
                number += 1
                image.picture = Self.picture(number)
            case .character("q"): Application.current?.terminate()
            default: break
            }
        }
        super.pressesBegan(presses, with: event)
    }

    /// A disc in a field of colours that run into each other.
    private static func picture(_ number: Int) -> Picture {
        let (width, height) = (320, 224)
        var bytes: [UInt8] = []
        for y in 0..<height {
            for x in 0..<width {
                let (across, down) = (x - width / 2, y - height / 2)
                let isDisc = across * across + down * down < (60 + number % 3 * 20) * (60 + number % 3 * 20)
                let isFrame = x < 2 || y < 2 || x >= width - 2 || y >= height - 2
                if isFrame {
                    bytes += [255, 255, 255, 255]
                } else if isDisc {
                    bytes += number % 2 == 0 ? [255, 220, 0, 255] : [0, 0, 0, 0]
                } else {
                    bytes += [UInt8(x * 255 / width), UInt8(y * 255 / height), UInt8(160 - number % 4 * 40), 255]
                }
            }
        }
        return Picture(width: width, height: height, bytes: bytes)
    }
}

final class Program: ApplicationDelegate {
    func applicationDidFinishLaunching(_ application: Application) {
        let board = Board()
        let controller = ViewController()
        controller.title = "Pictures"
        controller.view = board
        let window = Window()
        window.rootViewController = controller
        window.makeKeyAndVisible()
        board.becomeFirstResponder()
    }
}

Application.main(Program.self, pictures: ChafaPictures())
#else
print("The trait Pictures is not enabled.")
#endif
