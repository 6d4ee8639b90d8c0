import { enableCompileCache } from 'node:module'
import { rmSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { join } from 'node:path'
import { memoryFolder } from './scripts/memory-folder.mjs'

// For jest, its workers and the processes that tests start: what Node compiled once is compiled. Below node_modules, so that
// it lies in nobody's home; `npm ci` empties it.
const compiled = join(import.meta.dirname, 'node_modules/.cache/catalog-bot/compiled')
enableCompileCache(compiled)
process.env.NODE_COMPILE_CACHE = compiled

// Who says where temporary files go has them there.
const memory = process.env.TMPDIR === undefined ? memoryFolder() : undefined
if (memory !== undefined) {
  process.env.TMPDIR = memory
  process.once('exit', () => rmSync(memory, { recursive: true, force: true }))
}

/** @type {import('jest').Config} */
export default {
  // A test file that leaves something open fails.
  testEnvironment: '<rootDir>/test/closed-environment.cjs',
  // Nothing is open in a worker that ends; yet Node takes its heap apart, for more than the half second that jest waits where
  // the machine is busy. Then jest kills it, and speaks of leaks.
  workerGracefulExitTimeout: 30_000,
  // Node itself loads tests and sources, types and all.
  runtime: '<rootDir>/test/native-runtime.cjs',
  transform: {},
  reporters: ['default', '<rootDir>/test/left-out-reporter.mjs'],
  testMatch: ['<rootDir>/test/**/*.test.ts', '<rootDir>/src/**/*.test.ts'],
  // Machines are slow and busy, and a wait that is over early costs nothing.
  testTimeout: 120_000,
  testSequencer: '<rootDir>/test/longest-first.mjs',
  // Most of the slow tests wait for processes of their own, for half of their time.
  maxWorkers: availableParallelism() * 2,
}
