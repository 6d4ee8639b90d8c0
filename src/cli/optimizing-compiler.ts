// V8's optimizing compiler takes a sixth of a short run's time and pays off only in longer ones. bin/catalog-bot.cjs
// disables it for `validate`; this file enables it again.
import { setFlagsFromString } from 'node:v8'

/** Seconds since the start of the process. */
const longRunSeconds = 0.5

/** Bytes. Nearly all public catalog files are smaller. */
const largeFileBytes = 4 * 1024 * 1024

let isCompilerDisabled = true

/** Enables the compiler in a long run or before a large file. */
export function enableOptimizingCompiler(nextBytes: number): void {
  if (!isCompilerDisabled || (nextBytes < largeFileBytes && process.uptime() < longRunSeconds)) return
  isCompilerDisabled = false
  setFlagsFromString('--turbofan')
}
