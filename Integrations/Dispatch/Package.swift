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
    name: "run-loops-dispatch",
    products: [.library(name: "RunLoopsDispatch", targets: ["RunLoopsDispatch"])],
    dependencies: [.package(name: "swift-run-loops", path: "../..")],
    targets: [
        .target(
            name: "RunLoopsDispatch",
            dependencies: [.product(name: "RunLoops", package: "swift-run-loops")],
            swiftSettings: strict),
        // Foundation's run loop as the host; on the true main thread, which a test runner keeps for itself.
        .executableTarget(
            name: "dispatch-check",
            dependencies: ["RunLoopsDispatch", .product(name: "RunLoops", package: "swift-run-loops")],
            swiftSettings: strict),
    ]
)
