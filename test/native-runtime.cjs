// Jest's runtime, except that Node.js loads test files itself: there is no virtual context and no second module loader, and
// the test files of a worker share loaded modules.
'use strict'
const childProcess = require('node:child_process')
const { existsSync } = require('node:fs')
const { registerHooks, syncBuiltinESMExports } = require('node:module')
const { basename, join } = require('node:path')
const { pathToFileURL } = require('node:url')
const { default: Runtime } = require('jest-runtime')

const globals = pathToFileURL(join(__dirname, 'jest-globals.mjs')).href
registerHooks({
  resolve: (specifier, context, next) =>
    specifier === '@jest/globals' ? { url: globals, shortCircuit: true } : next(specifier, context),
})

// build-workers.mjs has built the scripts of processes that sources start.
const { BUILT_WORKERS: builtWorkers } = process.env
if (builtWorkers) {
  const { fork } = childProcess
  const sources = join(__dirname, '../src/')
  childProcess.fork = (script, ...options) => {
    const built = join(builtWorkers, `${basename(script, '.ts')}.js`)
    return fork(script.startsWith(sources) && existsSync(built) ? built : script, ...options)
  }
  syncBuiltinESMExports()
}

// Jest itself runs in a virtual context. `expect.any` compares constructors by identity, so both need the same ones.
const sharedConstructors = ['Array', 'BigInt', 'Boolean', 'Function', 'Number', 'Object', 'String', 'Symbol']

const launcher = pathToFileURL(join(__dirname, '../src/adapters/git/launcher.ts')).href

/** Files that this process has loaded, each with the number of times. */
const loads = new Map()
module.exports = class NativeRuntime extends Runtime {
  #environment

  constructor(config, environment, ...others) {
    for (const name of sharedConstructors) environment.global[name] = globalThis[name]
    super(config, environment, ...others)
    this.#environment = environment
  }

  unstable_shouldLoadAsEsm() {
    return true
  }

  async unstable_importModule(path) {
    const { follow } = await import(globals)
    follow({ ...this.jestGlobals.envGlobals(), jest: this.jestGlobals.jestObjectFor(path) })
    // Starting a process blocks a worker with a large heap for eight milliseconds, so a small process does it.
    if (loads.size === 0) (await import(launcher)).startProcessLauncher()
    const count = loads.get(path) ?? 0
    loads.set(path, count + 1)
    // Node.js caches compiled code by address, so the first load has the same address in each run.
    try {
      await import(`${pathToFileURL(path).href}${count === 0 ? '' : `?${count}`}`)
    } catch (error) {
      this.#environment.hasLoadError = true
      throw error
    }
  }
}
