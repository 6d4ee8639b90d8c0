// V8's optimizing compiler takes a sixth of the time of a short run and pays off only in longer runs. bin/catalog-bot.cjs
// disables it for `validate`, and this file enables it again.
import { setFlagsFromString } from 'node:v8'

/** Seconds since the start of the process. */
const minUptimeForCompilerSeconds = 0.5

/** Nearly all public catalog files are smaller. */
const minFileBytesForCompiler = 4 * 1024 * 1024

let isOptimizingCompilerDisabled = true

/** Enables the compiler in a long run, or before a large file is read. */
export function enableOptimizingCompiler(nextBytes: number): void {
  if (
    !isOptimizingCompilerDisabled ||
    (nextBytes < minFileBytesForCompiler && process.uptime() < minUptimeForCompilerSeconds)
  )
    return
  isOptimizingCompilerDisabled = false
  setFlagsFromString('--turbofan')
}
