import { mkdirSync, readdirSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'

/** Gives a copy of the project the installed dependencies, and its own packages instead of the project's. */
export function linkPackages(projectRoot: string, copy: string): void {
  const modules = join(projectRoot, 'node_modules')
  mkdirSync(join(copy, 'node_modules', '@catalog-bot'), { recursive: true })
  for (const name of readdirSync(modules))
    if (name !== '@catalog-bot') symlinkSync(join(modules, name), join(copy, 'node_modules', name))
  for (const name of readdirSync(join(copy, 'packages')))
    symlinkSync(join(copy, 'packages', name), join(copy, 'node_modules', '@catalog-bot', name))
}
