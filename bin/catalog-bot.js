#!/usr/bin/env node
// What `npx catalog-bot` runs: the compiled command line in a published package, the sources in a checkout.
import { existsSync } from 'node:fs'
import { enableCompileCache } from 'node:module'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { URL } from 'node:url'

try {
  // Compiled code is kept from run to run, in the user's own folder: in a shared one others could plant theirs.
  const shared = process.env.XDG_CACHE_HOME || join(homedir(), '.cache')
  enableCompileCache(join(process.env.CATALOG_BOT_CACHE || join(shared, 'catalog-bot'), 'compiled'))
} catch {
  // Without a home everything is compiled anew.
}

// A checkout may hold what was built of it long ago: there the sources count.
const source = new URL('../src/cli.ts', import.meta.url)
await import(existsSync(source) ? source.href : new URL('../dist/cli.js', import.meta.url).href)
