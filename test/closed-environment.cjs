// Jest's environment for Node, but that a test file which leaves something open fails: a server, a socket, a process, a timer.
// A listener for messages counts too: a file that imports the code of another process keeps the channel to jest open.
// Only what would keep a process alive counts. Otherwise the worker of the last file that did so is the one that jest kills.
'use strict'
const { setTimeout: sleep } = require('node:timers/promises')
const { TestEnvironment } = require('jest-environment-node')

/** Milliseconds: what was closed in afterAll() may take a moment to be gone. */
const patience = 5000

module.exports = class ClosedEnvironment extends TestEnvironment {
  #before = []

  async setup() {
    await super.setup()
    // Node opens its own streams when they are asked for first; they end with the process.
    for (const name of ['stdin', 'stdout', 'stderr']) void process[name]
    this.#before = opened()
  }

  async teardown() {
    await super.teardown()
    const end = performance.now() + patience
    for (let open = addedTo(this.#before); open.length > 0; open = addedTo(this.#before)) {
      if (performance.now() > end) throw new Error(`this test file leaves open: ${open.join(', ')}`)
      await sleep(20)
    }
  }
}

/** Connections end with the server that a test closes, or time out: what has to be closed are servers. */
const passing = 'TCPSocketWrap'

const opened = () => [
  ...process.getActiveResourcesInfo(),
  ...['message', 'disconnect'].flatMap((event) =>
    process.listeners(event).map(() => `listener for ${event}`),
  ),
]

function addedTo(before) {
  const known = [...before]
  return opened().filter((kind) => {
    if (kind === passing) return false
    const at = known.indexOf(kind)
    if (at >= 0) known.splice(at, 1)
    return at < 0
  })
}
