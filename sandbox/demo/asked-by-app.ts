// What the App asks of GitHub, as app.yml says it: an App of the sandbox has neither more nor less.
import { readFileSync } from 'node:fs'
import { parse } from 'yaml'
import { packageFolder } from '../../src/cli/version.ts'
import { join } from 'node:path'
import type { Permissions } from '../github/world.ts'

export interface Asked {
  readonly permissions: Permissions
  readonly events: readonly string[]
}

export function askedByApp(): Asked {
  const manifest = parse(readFileSync(join(packageFolder(), 'app.yml'), 'utf8')) as {
    default_permissions: Permissions
    default_events: string[]
  }
  return { permissions: manifest.default_permissions, events: manifest.default_events }
}
