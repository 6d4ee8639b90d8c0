import { enableCompileCache } from 'node:module'
import { rmSync } from 'node:fs'
import { availableParallelism, totalmem } from 'node:os'
import { join } from 'node:path'
import { memoryFolder } from './scripts/memory-folder.mjs'

// Jest, its workers, and the processes that tests start share the code that Node compiled. `npm ci` empties the folder.
const compiled = join(import.meta.dirname, 'node_modules/.cache/catalog-bot/compiled')
enableCompileCache(compiled)
process.env.NODE_COMPILE_CACHE = compiled

// TMPDIR overrides the folder for temporary files.
const memory = process.env.TMPDIR === undefined ? memoryFolder() : undefined
if (memory !== undefined) {
  process.env.TMPDIR = memory
  process.once('exit', () => rmSync(memory, { recursive: true, force: true }))
}

/** @type {import('jest').Config} */
export default {
  // A test file that leaves something open fails.
  testEnvironment: '<rootDir>/test/closed-environment.cjs',
  // A worker with a large heap takes seconds to exit on a busy machine. By default, jest kills it after half a second and
  // reports a leak.
  workerGracefulExitTimeout: 30_000,
  // Node.js loads tests and sources itself, and strips their types.
  runtime: '<rootDir>/test/native-runtime.cjs',
  transform: {},
  globalSetup: '<rootDir>/test/build-workers.mjs',
  reporters: ['default', '<rootDir>/test/left-out-reporter.mjs'],
  testMatch: ['<rootDir>/test/**/*.test.ts', '<rootDir>/src/**/*.test.ts'],
  // Enough for a slow or busy machine.
  testTimeout: 180_000,
  testSequencer: '<rootDir>/test/longest-first.mjs',
  // Most slow tests wait more than half of their time for processes that they started. A worker and its processes take
  // up to 2 GiB.
  maxWorkers: Math.max(1, Math.min(availableParallelism() * 3, Math.floor(totalmem() / 2 ** 31))),
}
