import { enableCompileCache } from 'node:module'
import { availableParallelism } from 'node:os'
import { join } from 'node:path'

// For jest, its workers and the processes that tests start: what Node compiled once is compiled. Below node_modules, so that
// it lies in nobody's home; `npm ci` empties it.
const compiled = join(import.meta.dirname, 'node_modules/.cache/catalog-bot/compiled')
enableCompileCache(compiled)
process.env.NODE_COMPILE_CACHE = compiled

/** @type {import('jest').Config} */
export default {
  testEnvironment: 'node',
  // Node itself loads tests and sources, types and all.
  runtime: '<rootDir>/test/native-runtime.cjs',
  transform: {},
  reporters: ['default', '<rootDir>/test/left-out-reporter.mjs'],
  testMatch: ['<rootDir>/test/**/*.test.ts', '<rootDir>/src/**/*.test.ts'],
  // Machines are slow and busy, and a wait that is over early costs nothing.
  testTimeout: 120_000,
  testSequencer: '<rootDir>/test/longest-first.mjs',
  // Most of the slow tests wait for processes of their own, for a quarter of their time.
  maxWorkers: Math.ceil(availableParallelism() * 1.5),
}
