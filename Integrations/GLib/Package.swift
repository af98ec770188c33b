// swift-tools-version: 6.2
import PackageDescription

// The library's own settings; each has its reason there.
let strict: [SwiftSetting] = [
    .swiftLanguageMode(.v6),
    .treatAllWarnings(as: .error),
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("MemberImportVisibility"),
]

let package = Package(
    name: "run-loops-glib",
    products: [.library(name: "RunLoopsGLib", targets: ["RunLoopsGLib"])],
    dependencies: [.package(name: "swift-run-loops", path: "../..")],
    targets: [
        .systemLibrary(name: "CGLib", pkgConfig: "glib-2.0", providers: [.apt(["libglib2.0-dev"])]),
        .target(
            name: "RunLoopsGLib",
            dependencies: ["CGLib", .product(name: "RunLoops", package: "swift-run-loops")],
            swiftSettings: strict),
        // What needs the true main thread, which a test runner keeps for itself.
        .executableTarget(
            name: "glib-check",
            dependencies: ["RunLoopsGLib", "CGLib", .product(name: "RunLoops", package: "swift-run-loops")],
            swiftSettings: strict),
        .testTarget(
            name: "RunLoopsGLibTests",
            dependencies: ["RunLoopsGLib", "CGLib", .product(name: "RunLoops", package: "swift-run-loops")],
            swiftSettings: strict),
    ]
)
