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
    name: "run-loops-log",
    products: [.library(name: "RunLoopsLog", targets: ["RunLoopsLog"])],
    dependencies: [
        .package(name: "swift-run-loops", path: "../.."),
        .package(url: "https://github.com/apple/swift-log", from: "1.12.0"),
    ],
    targets: [
        .target(
            name: "RunLoopsLog",
            dependencies: [
                .product(name: "RunLoops", package: "swift-run-loops"),
                .product(name: "RunLoopsDiagnostics", package: "swift-run-loops"),
                .product(name: "Logging", package: "swift-log"),
            ],
            swiftSettings: strict),
        // Logs a slow timer to standard error.
        .executableTarget(
            name: "log-example",
            dependencies: [
                "RunLoopsLog",
                .product(name: "RunLoops", package: "swift-run-loops"),
                .product(name: "RunLoopsDiagnostics", package: "swift-run-loops"),
                .product(name: "Logging", package: "swift-log"),
            ],
            swiftSettings: strict),
        .testTarget(
            name: "RunLoopsLogTests",
            dependencies: [
                "RunLoopsLog",
                .product(name: "RunLoops", package: "swift-run-loops"),
                .product(name: "RunLoopsTesting", package: "swift-run-loops"),
                .product(name: "RunLoopsDiagnostics", package: "swift-run-loops"),
                .product(name: "Logging", package: "swift-log"),
                .product(name: "InMemoryLogging", package: "swift-log"),
            ],
            swiftSettings: strict),
    ]
)
