// Jest's runtime, but that test files are loaded by Node itself: no virtual context, no second reader of modules, and what one
// file loaded is there for the next in the same worker.
'use strict'
const { registerHooks } = require('node:module')
const { join } = require('node:path')
const { pathToFileURL } = require('node:url')
const { default: Runtime } = require('jest-runtime')

const globals = pathToFileURL(join(__dirname, 'jest-globals.mjs')).href
registerHooks({
  resolve: (specifier, context, next) =>
    specifier === '@jest/globals' ? { url: globals, shortCircuit: true } : next(specifier, context),
})

// Jest itself still runs in a context: what it compares with by identity (`expect.any`) has to be what tests name.
const compared = ['Array', 'BigInt', 'Boolean', 'Function', 'Number', 'Object', 'String', 'Symbol']

const launcher = pathToFileURL(join(__dirname, '../src/adapters/git/launcher.ts')).href

let loads = 0
module.exports = class NativeRuntime extends Runtime {
  constructor(config, environment, ...others) {
    for (const name of compared) environment.global[name] = globalThis[name]
    super(config, environment, ...others)
  }

  unstable_shouldLoadAsEsm() {
    return true
  }

  async unstable_importModule(path) {
    const { follow } = await import(globals)
    follow({ ...this.jestGlobals.envGlobals(), jest: this.jestGlobals.jestObjectFor(path) })
    // A worker with all modules in it stands still for eight milliseconds whenever it starts a process itself.
    if (loads === 0) (await import(launcher)).startProcessLauncher()
    await import(`${pathToFileURL(path).href}?${(loads += 1)}`)
  }
}
