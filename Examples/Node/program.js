// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

// Uses the add-on on Node's main thread, prints what it measures, and ends with 0 if all is well:
//
//     node program.js FOLDER/libstation.so

'use strict'

const addon = { exports: {} }
process.dlopen(addon, require('path').resolve(process.argv[2]))
const station = addon.exports

function check(isWell, what) {
  if (isWell) return
  console.log(`WRONG: ${what}`)
  process.exitCode = 1
}
const timeout = milliseconds => new Promise(done => setTimeout(done, milliseconds))
const median = numbers => numbers.sort((a, b) => a - b)[numbers.length >> 1]

async function main() {
  // A timer of Swift's, whose callback gives work to JavaScript.
  const order = []
  await new Promise(done => {
    station.tick(3, 10, number => {
      order.push(`tick ${number}`)
      process.nextTick(() => order.push('next tick'))
      Promise.resolve().then(() => order.push('promise'))
      setImmediate(() => { if (number === 3) done() })
    })
  })
  console.log(`timer of Swift's: ${order.join(', ')}`)
  check(order.join() === [1, 2, 3].map(n => [`tick ${n}`, 'next tick', 'promise']).join(), 'the order of a tick')

  console.log(`async function of Swift's: ${await station.sum(1000000)}`)
  check(await station.sum(10) === 55, 'the sum')
  const sums = await Promise.all([1, 2, 3, 4].map(station.sum))
  check(sums.join() === '1,3,6,10', 'four sums at once')

  const hops = await station.hops(500)
  console.log(`hop by runloops_perform: median ${hops.loop.toFixed()} µs; by uv_async_send, in turns with it: ${hops.async.toFixed()} µs`)
  check(hops.loop <= 200, 'a hop takes more than 0.2 ms')

  const kinds = ['post without a wake-up', 'timer of 0 s', 'task of the main actor', 'runloops_perform']
  for (let kind = 0; kind < kinds.length; kind++) {
    const delays = []
    for (let round = 0; round < 20; round++) {
      await timeout(5)
      // In a callback of Node's: nothing else wakes the thread until the promise is resolved.
      const result = await station.give(kind)
      delays.push(result.delay)
      // A timer that is due and the main queue show at the descriptor: Node's wait returns at once.
      check(result.polls === 0 || kind === 1 || kind === 2, `Node has waited before the loop was served: ${kinds[kind]}`)
    }
    console.log(`${kinds[kind]}: median ${median(delays).toFixed()} µs`)
    check(median(delays) <= 2000, `${kinds[kind]} takes more than 2 ms`)
  }

  let wasThrown = false
  try { station.sum('ten') } catch (error) { wasThrown = error instanceof TypeError }
  check(wasThrown, 'a wrong argument throws no TypeError')

  const rest = await station.rest(10)
  console.log(`at rest for 10 s: ${rest.sleeps} wake-ups of the main thread, ${rest.waits} turns of libuv`)
  check(rest.sleeps === 0 && rest.waits === 0, 'Node wakes at rest')
}

main().catch(error => { console.log(error); process.exitCode = 1 })
