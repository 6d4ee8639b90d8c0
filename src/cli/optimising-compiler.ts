// V8's optimizing compiler takes a sixth of a short run's time and pays off only in longer ones. bin/catalog-bot.cjs
// disables it for `validate`; this file enables it again.
import { setFlagsFromString } from 'node:v8'

/** Seconds since the start of the process. */
const longRun = 0.5

/** Bytes. Nearly all public catalog files are smaller. */
const largeFile = 4 * 1024 * 1024

let isHeldBack = true

/** Enables the compiler in a long run or before a large file. */
export function compileWhatIsHot(nextBytes: number): void {
  if (!isHeldBack || (nextBytes < largeFile && process.uptime() < longRun)) return
  isHeldBack = false
  setFlagsFromString('--turbofan')
}
