// Jest's environment for Node.js, except that a test file fails if it leaves a server, socket, process, or timer open that
// would keep the worker alive. Listeners for messages count, too: a file that imports the code of another process keeps
// the channel to jest open.
'use strict'
const { setTimeout: sleep } = require('node:timers/promises')
const { TestEnvironment } = require('jest-environment-node')

/** The time for resources that afterAll() closed to disappear: on a busy machine, a git process ends seconds later. */
const timeoutMs = 30_000

module.exports = class ClosedEnvironment extends TestEnvironment {
  #before = []

  async setup() {
    await super.setup()
    // Node.js opens these streams on first access, and they end with the process.
    for (const name of ['stdin', 'stdout', 'stderr']) void process[name]
    this.#before = opened()
  }

  async teardown() {
    await super.teardown()
    // Its hooks, which would close what it opened, do not run, and its own error is reported.
    if (this.hasLoadError) return
    const end = performance.now() + timeoutMs
    for (let open = addedTo(this.#before); open.length > 0; open = addedTo(this.#before)) {
      if (performance.now() > end) throw new Error(`this test file leaves open: ${open.join(', ')}`)
      await sleep(20)
    }
  }
}

/** Connections end with the server that a test closes, or time out. */
const ignoredResource = 'TCPSocketWrap'

const opened = () => [
  ...process.getActiveResourcesInfo(),
  ...['message', 'disconnect'].flatMap((event) =>
    process.listeners(event).map(() => `listener for ${event}`),
  ),
]

function addedTo(before) {
  const known = [...before]
  return opened().filter((kind) => {
    if (kind === ignoredResource) return false
    const at = known.indexOf(kind)
    if (at >= 0) known.splice(at, 1)
    return at < 0
  })
}
