// The package as users install it, for benchmarks and tests. It is built once, and again after a source has changed.
import { execFileSync } from 'node:child_process'
import { cpSync, mkdirSync, readdirSync, rmSync, statSync, symlinkSync, utimesSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { lockDatabaseFolder } from '../src/adapters/store/folder-lock.ts'

const root = join(import.meta.dirname, '..')
const cacheFolder = join(root, 'node_modules', '.cache', 'built-package')
const packageFolder = join(cacheFolder, 'package')
const manifestPath = join(packageFolder, 'package.json')
const sources = ['bin', 'packages', 'sandbox', 'scripts/build', 'src']
const otherSources = ['app.yml', 'package-lock.json', 'package.json', 'scripts/build.ts']
const buildTimeoutMs = 300_000

/** Resolves with the command that starts the built package, which has no rule pages. */
export async function buildCatalogBotCli(): Promise<readonly string[]> {
  mkdirSync(cacheFolder, { recursive: true })
  const unlock = await lockDatabaseFolder(cacheFolder, buildTimeoutMs)
  try {
    const built = statSync(manifestPath, { throwIfNoEntry: false })
    if (built === undefined || built.mtimeMs < findLastChangeMs()) buildPackage()
  } finally {
    unlock()
  }
  return [process.execPath, '--no-warnings', join(packageFolder, 'bin', 'catalog-bot.cjs')]
}

function findLastChangeMs(): number {
  const files = sources.flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' }).map((name) => join(folder, name)),
  )
  return Math.max(...[...otherSources, ...files].map((file) => statSync(join(root, file)).mtimeMs))
}

function buildPackage(): void {
  const started = new Date()
  rmSync(packageFolder, { recursive: true, force: true })
  const build = join(root, 'scripts', 'build.ts')
  execFileSync(process.execPath, ['--no-warnings', build, '--only-code', join(packageFolder, 'dist')])
  // The only dependency that is not in the build.
  const database = join('node_modules', '@electric-sql', 'pglite')
  mkdirSync(join(packageFolder, dirname(database)), { recursive: true })
  symlinkSync(join(root, database), join(packageFolder, database))
  for (const part of ['bin', 'app.yml', 'package.json'])
    cpSync(join(root, part), join(packageFolder, part), { recursive: true })
  utimesSync(manifestPath, started, started)
}
