import { execFileSync } from 'node:child_process'
import { cpSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'

/** The location of a build that several benchmarks share, for benchmarks in child processes. */
export const prebuiltPackageEnvVariable = 'CATALOG_BOT_BUILT'

/**
 * Builds the command line as users install it into a folder that must not exist yet. Returns the command that
 * starts it.
 */
export function buildCatalogBotCli(folder: string): string[] {
  const already = process.env[prebuiltPackageEnvVariable]
  if (already !== undefined) return createNodeCliCommand(already)
  const root = join(import.meta.dirname, '..')
  execFileSync(process.execPath, ['--no-warnings', join(root, 'scripts', 'build.ts'), join(folder, 'dist')])
  for (const part of ['bin', 'package.json'])
    cpSync(join(root, part), join(folder, part), { recursive: true })
  symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'))
  return createNodeCliCommand(folder)
}

const createNodeCliCommand = (folder: string) => [process.execPath, join(folder, 'bin', 'catalog-bot.cjs')]
