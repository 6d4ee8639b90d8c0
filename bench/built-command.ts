// The package as users install it, for benchmarks. It is built once, and again after a source has changed.
import { execFileSync } from 'node:child_process'
import { cpSync, mkdirSync, readdirSync, rmSync, statSync, symlinkSync } from 'node:fs'
import { dirname, join } from 'node:path'

const root = join(import.meta.dirname, '..')
const packageFolder = join(root, 'node_modules', '.cache', 'built-package')
const sourceFolders = ['bin', 'docs/rules', 'packages', 'sandbox', 'scripts', 'src']

/** Returns the command that starts the built package. */
export function buildCatalogBotCli(): readonly string[] {
  // The build writes this file last.
  const built = statSync(join(packageFolder, 'dist', 'rule-pages.json'), { throwIfNoEntry: false })
  if (built === undefined || built.mtimeMs < findLastChangeMs()) buildPackage()
  return [process.execPath, '--no-warnings', join(packageFolder, 'bin', 'catalog-bot.cjs')]
}

function findLastChangeMs(): number {
  const files = sourceFolders.flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' }).map((name) => join(folder, name)),
  )
  return Math.max(...['package-lock.json', ...files].map((file) => statSync(join(root, file)).mtimeMs))
}

function buildPackage(): void {
  rmSync(packageFolder, { recursive: true, force: true })
  for (const part of ['bin', 'package.json', 'app.yml'])
    cpSync(join(root, part), join(packageFolder, part), { recursive: true })
  // The only dependency that is not in the build.
  const database = join('node_modules', '@electric-sql', 'pglite')
  mkdirSync(join(packageFolder, dirname(database)), { recursive: true })
  symlinkSync(join(root, database), join(packageFolder, database))
  execFileSync(process.execPath, [
    '--no-warnings',
    join(root, 'scripts/build.ts'),
    join(packageFolder, 'dist'),
  ])
}
