// V8's optimising compiler takes a sixth of a short run's time, and pays only in a longer one. bin/catalog-bot.cjs holds
// it back for `validate`; here it is let go.
import { setFlagsFromString } from 'node:v8'

/** Seconds since the start of the process. */
const longRun = 0.5

/** Larger than nearly every file of the catalogs that there are. */
const largeFile = 4 * 1024 * 1024

let isHeldBack = true

/** Lets the compiler go where the run is a long one, or the file that is read next makes it one. */
export function compileWhatIsHot(nextBytes: number): void {
  if (!isHeldBack || (nextBytes < largeFile && process.uptime() < longRun)) return
  isHeldBack = false
  setFlagsFromString('--turbofan')
}
