// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

// Uses the add-on in workers alone, one after the other and beside each other. When the last worker ends, Node closes the library.
//
//     node workers.js FOLDER/libstation.so

'use strict'

const { Worker, isMainThread, parentPort, workerData } = require('worker_threads')
const path = require('path').resolve(process.argv[2] ?? workerData)

if (isMainThread) {
  const run = () => new Promise((done, failed) => {
    const ticks = []
    new Worker(__filename, { workerData: path, argv: [path] })
      .on('message', tick => ticks.push(tick)).on('error', failed)
      .on('exit', code => code === 0 && ticks.join() === '1,2,3' ? done() : failed(new Error(`${code}: ${ticks}`)))
  })
  const main = async () => {
    for (let round = 0; round < 5; round++) await run()
    await Promise.all([1, 2, 3, 4].map(run))
    console.log('workers: 9 threads have ended, each with a loop of its own')
  }
  main().catch(error => { console.log(error); process.exitCode = 1 })
} else {
  const addon = { exports: {} }
  process.dlopen(addon, path)
  // The worker ends when the last tick has been.
  addon.exports.sum(2).then(sum => {
    if (sum === 3) addon.exports.tick(3, 5, number => parentPort.postMessage(number))
  })
}
