// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

@testable import pictures

/// The checks that let a picture be made.
struct PicturesTests {
    private func picture(_ content: Block, _ arrows: [Arrow] = []) -> Picture {
        Picture(name: "p", title: "t", description: "d", content: content, arrows: arrows)
    }

    private func box(_ id: String, _ text: String = "a box") -> Block { .box(id, .work, [.name(text)]) }

    @Test func `Contrast is the one of WCAG`() {
        #expect(abs(Colour("#000000").contrast(with: Colour("#ffffff")) - 21) < 0.001)
        #expect(Colour("#123456").contrast(with: Colour("#123456")) == 1)
        #expect(abs(Colour("#767676").contrast(with: Colour("#ffffff")) - 4.54) < 0.01)
    }

    @Test func `A palette with a faint note complains`() {
        let light = Palette.light
        #expect(light.complaints.isEmpty)
        let faint = Palette(
            name: "faint", ground: light.ground, frame: light.frame, lane: light.lane, text: light.text,
            note: Colour("#9198a1"), line: light.line, fills: light.fills, strokes: light.strokes)
        #expect(faint.complaints.contains { $0.contains("a note on the page") })
    }

    @Test func `Boxes of a row are equally wide, unless one needs more`() throws {
        let equal = try picture(.row([box("a"), box("b")], gap: 20)).layout().layout.boxes
        #expect(equal.map(\.rect.width) == [250, 250])
        let long = String(repeating: "m", count: 20)
        let boxes = try picture(.row([box("a", long), box("b")], gap: 20)).layout().layout.boxes
        #expect(boxes[0].rect.width == Line.name(long).width + 22)
        #expect(boxes[0].rect.width + boxes[1].rect.width == 500)
    }

    @Test func `Content that is too wide is refused`() {
        #expect(throws: Complaint.self) { try picture(box("a", String(repeating: "m", count: 60))).layout() }
    }

    @Test func `A label that does not fit between its boxes is refused`() throws {
        let row = Block.row([box("a"), box("b")], gap: 30)
        _ = try picture(row, [Arrow(from: "a", to: "b")]).layout()
        #expect(throws: Complaint.self) {
            try picture(row, [Arrow(from: "a", to: "b", label: ["a long label"])]).layout()
        }
    }

    @Test func `An arrow through a third box is refused`() {
        #expect(throws: Complaint.self) {
            try picture(.row([box("a"), box("b"), box("c")], gap: 20), [Arrow(from: "a", to: "c")]).layout()
        }
    }

    @Test func `An arrow to nowhere is refused`() {
        #expect(throws: Complaint.self) { try picture(box("a"), [Arrow(from: "a", to: "z")]).layout() }
    }

    @Test func `What is special in XML is escaped`() throws {
        let svg = try picture(box("a", "a < b & c")).svg(.light)
        #expect(svg.contains("a &lt; b &amp; c"))
    }

    @Test func `Each picture of the documentation can be made, with a title and a description`() throws {
        var root = URL(filePath: #filePath)
        for _ in 0..<5 { root.deleteLastPathComponent() }
        for picture in try Pictures.folders(root: root).flatMap(\.pictures) {
            for palette in [Palette.light, .dark] { #expect(try picture.svg(palette).contains("<desc id=\"desc\">")) }
            #expect(!picture.title.isEmpty && picture.description.count > 40)
        }
    }
}
