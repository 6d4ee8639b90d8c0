import { mkdirSync, readdirSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'

/**
 * Gives a copy of the project the installed dependencies, and its own packages and cache instead of the project's. A build
 * of the copy in the project's cache would be newer than the project's sources, so the project's tests would use it.
 */
export function linkPackages(projectRoot: string, copy: string): void {
  const modules = join(projectRoot, 'node_modules')
  mkdirSync(join(copy, 'node_modules', '@catalog-bot'), { recursive: true })
  for (const name of readdirSync(modules))
    if (name !== '@catalog-bot' && name !== '.cache')
      symlinkSync(join(modules, name), join(copy, 'node_modules', name))
  for (const name of readdirSync(join(copy, 'packages')))
    symlinkSync(join(copy, 'packages', name), join(copy, 'node_modules', '@catalog-bot', name))
}
