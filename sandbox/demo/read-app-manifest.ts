// The App's permissions and events from app.yml. An App in the sandbox has exactly these.
import { readFileSync } from 'node:fs'
import { parse } from 'yaml'
import { findPackageFolder } from '../../src/cli/version.ts'
import { join } from 'node:path'
import type { AppPermissions } from '../github/github-data.ts'

export interface AppManifestPermissions {
  readonly permissions: AppPermissions
  readonly events: readonly string[]
}

export function readAppManifest(): AppManifestPermissions {
  const manifest = parse(readFileSync(join(findPackageFolder(), 'app.yml'), 'utf8')) as {
    default_permissions: AppPermissions
    default_events: string[]
  }
  return { permissions: manifest.default_permissions, events: manifest.default_events }
}
