import { homedir } from 'node:os'
import { isAbsolute, join } from 'node:path'

/** `CATALOG_BOT_CACHE`, or `catalog-bot` in the user's cache home. Creates nothing. */
export function getCacheDirectory(environment: NodeJS.ProcessEnv = process.env): string {
  const own = environment['CATALOG_BOT_CACHE']
  if (own) return own
  const shared = environment['XDG_CACHE_HOME']
  // The XDG base directory specification says to ignore relative paths.
  return join(shared && isAbsolute(shared) ? shared : join(homedir(), '.cache'), 'catalog-bot')
}
