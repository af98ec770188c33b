// swift-tools-version: 6.2
// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

import PackageDescription

let settings: [SwiftSetting] = [.swiftLanguageMode(.v6), .treatAllWarnings(as: .error)]
let loops: [Target.Dependency] = [
    .product(name: "RunLoops", package: "swift-run-loops"), .product(name: "RunLoopsKit", package: "swift-run-loops"),
]
let events: Target.Dependency = .product(name: "RunLoopsEvents", package: "swift-run-loops")
let screen: Target.Dependency = .product(name: "LoopUI", package: "swift-run-loops")
let testing: Target.Dependency = .product(name: "LoopUITesting", package: "swift-run-loops")

let package = Package(
    name: "loader",
    products: [
        .library(name: "Loading", targets: ["Loading"]),
        // Apart from it, so that a program without a screen does not build one.
        .library(name: "LoadingPictures", targets: ["LoadingPictures"]),
        // For the tests of other packages.
        .library(name: "Serving", targets: ["Serving"]),
    ],
    // A link with the name of the package: the folder of a checkout may have any.
    dependencies: [.package(path: "../.package/swift-run-loops")],
    targets: [
        .systemLibrary(name: "CCurl", pkgConfig: "libcurl", providers: [.apt(["libcurl4-openssl-dev"])]),
        .target(name: "Loading", dependencies: ["CCurl", events] + loops, swiftSettings: settings),
        .target(name: "LoadingPictures", dependencies: ["Loading", screen] + loops, swiftSettings: settings),
        .target(name: "Serving", dependencies: [events] + loops, swiftSettings: settings),
        .executableTarget(name: "loader", dependencies: ["Loading", "Serving"] + loops, swiftSettings: settings),
        .testTarget(name: "LoadingTests", dependencies: ["Loading", "Serving"] + loops, swiftSettings: settings),
        .testTarget(
            name: "LoadingPicturesTests",
            dependencies: ["Loading", "LoadingPictures", "Serving", screen, testing] + loops, swiftSettings: settings),
    ]
)
