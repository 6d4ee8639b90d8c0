// Node saves its compile cache only on a normal exit, which workers and killed Apps don't have. Without the cache each
// process would compile all sources again, which takes over a second.
import { flushCompileCache } from 'node:module'

/** Saves the compile cache for the next process; does nothing if there is no cache folder. */
export function saveCompileCache(): void {
  flushCompileCache()
}
