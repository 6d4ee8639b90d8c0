// Where this program may keep what it can make again. Creates nothing.
import { homedir } from 'node:os'
import { isAbsolute, join } from 'node:path'

/** A folder of the user's own: `CATALOG_BOT_CACHE`, or `catalog-bot` in the user's cache home. */
export function cacheHome(environment: NodeJS.ProcessEnv = process.env): string {
  const own = environment['CATALOG_BOT_CACHE']
  if (own) return own
  const shared = environment['XDG_CACHE_HOME']
  // The base directory specification: a relative path is invalid and must be ignored.
  return join(shared && isAbsolute(shared) ? shared : join(homedir(), '.cache'), 'catalog-bot')
}
