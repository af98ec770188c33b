// swift-tools-version: 6.2
// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

import PackageDescription

// The library's own settings; each has its reason there.
let strict: [SwiftSetting] = [
    .swiftLanguageMode(.v6),
    .treatAllWarnings(as: .error),
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("MemberImportVisibility"),
]

func product(_ name: String) -> Target.Dependency { .product(name: name, package: "swift-run-loops") }
func loader(_ name: String) -> Target.Dependency { .product(name: name, package: "Loader") }

let package = Package(
    name: "logs",
    // A link with the name of the package: the folder of a checkout may have any.
    dependencies: [.package(path: "../.package/swift-run-loops"), .package(path: "../Loader")],
    targets: [
        // Reads, follows, filters and searches; knows no screen.
        .target(
            name: "LogModel", dependencies: [loader("Loading"), product("RunLoops"), product("RunLoopsEvents")],
            swiftSettings: strict),
        .target(
            name: "LogScreens",
            dependencies: ["LogModel", loader("LoadingPictures"), product("LoopUI"), product("RunLoops")],
            swiftSettings: strict),
        .executableTarget(
            name: "Logs",
            dependencies: [
                "LogModel", "LogScreens", loader("Loading"), product("LoopUI"), product("LoopUITerminal"),
                product("RunLoopsKit"),
            ],
            swiftSettings: strict),
        .testTarget(
            name: "LogModelTests", dependencies: ["LogModel", product("RunLoops"), product("RunLoopsKit")],
            swiftSettings: strict),
        .testTarget(
            name: "LogScreensTests",
            dependencies: [
                "LogModel", "LogScreens", loader("Loading"), loader("Serving"), product("LoopUI"),
                product("LoopUITesting"), product("RunLoops"),
            ],
            swiftSettings: strict),
    ]
)
