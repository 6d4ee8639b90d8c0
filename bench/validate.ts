// Measures `validate` against `opm validate`: whole processes, medians, cold, warm, and as sizes grow.
// Ours is the command as users install it: built, beside its dependencies.
// usage: npm run bench:validate -- [--opm PATH] [--runs N] [--cli "COMMAND"] [--growth 10,100,500] [DIR...]
// Without a DIR and a growth: a generated catalog of 20 MB. opm is the one on the PATH; where there is none, that is said.
import { cpSync, mkdtempSync, readFileSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { cpus, loadavg, tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { assemble } from '../src/catalog/facts/assemble.ts'
import { readFile } from '../src/catalog/load/read-file.ts'
import { validateCatalog } from '../src/catalog/model/validate-catalog.ts'
import { openCatalogDirectory } from '../src/examine/catalogs/catalog-directory.ts'
import { isOnPath } from '../test/is-on-path.ts'
import { builtCommand } from './built-command.ts'
import { generateCatalog } from './generated-catalog.ts'
import { measure, median, medianOf } from './measured-process.ts'
import type { Measured } from './measured-process.ts'

const { values, positionals } = parseArgs({
  options: {
    opm: { type: 'string' },
    runs: { type: 'string', default: '5' },
    cli: { type: 'string' },
    growth: { type: 'string' },
  },
  allowPositionals: true,
})
const runs = Number(values.runs)
const opmCommand = values.opm ?? (isOnPath('opm') ? 'opm' : undefined)
const scratch = mkdtempSync(join(tmpdir(), 'bench-validate-'))
const cli = [
  ...(values.cli?.split(' ') ?? builtCommand(join(scratch, 'package'))),
  'validate',
  '--profile',
  'opm',
  '-o',
  'json',
]
const environment = { ...process.env, CATALOG_BOT_CACHE: join(scratch, 'cache') }

try {
  console.log(
    `${cpus().length} CPUs (${cpus()[0]?.model}), load ${loadavg()[0]?.toFixed(1)}, medians of ${runs}`,
  )
  if (opmCommand === undefined)
    console.log('no opm is on the PATH to compare with (.ci/build-opm DIRECTORY builds one)')
  const measured = directories().map((directory) => ({ directory, opm: benchDirectory(directory) }))
  for (const megabytes of values.growth?.split(',').map(Number) ?? []) benchGrowth(megabytes)
  // Last: to start a process takes a large one ten milliseconds longer.
  for (const { directory, opm } of measured) benchInProcess(directory, opm)
} finally {
  rmSync(scratch, { recursive: true, force: true, maxRetries: 10 })
}

function directories(): readonly string[] {
  if (positionals.length > 0 || values.growth !== undefined) return positionals
  const generated = join(scratch, 'generated')
  generateCatalog(generated, 20)
  return [generated]
}

/** Returns what opm took. */
function benchDirectory(directory: string): Measured | undefined {
  console.log(`\n${directory}: ${(sizeOf(directory) / 1e6).toFixed(1)} MB`)
  const opm = opmCommand === undefined ? undefined : theirs(opmCommand, directory)
  if (opm) print('opm', opm)
  // Once unmeasured: what the program itself keeps from run to run (its compiled code) belongs to its installation.
  measure([...cli, '--no-cache', directory], environment)
  print(
    'cold, no cache',
    medianOf(runs, () => measure([...cli, '--no-cache', directory], environment)),
    opm,
  )
  print(
    'cold, cache being filled',
    medianOf(runs, () => measureEmptyCache(directory)),
    opm,
  )
  print(
    'warm, nothing changed',
    medianOf(runs, () => measure([...cli, directory], environment)),
    opm,
  )

  const copy = join(scratch, 'copy')
  cpSync(directory, copy, { recursive: true, dereference: true })
  const [changed] = yamlFiles(copy)
  if (changed !== undefined) {
    const text = readFileSync(changed, 'utf8')
    const warm = medianOf(runs, (run) => {
      // Behind the last document: a comment before the first separator would be a document of its own.
      writeFileSync(changed, `${text}# change ${run}\n`)
      return measure([...cli, copy], environment)
    })
    print('warm, one package changed', warm, opm)
  }
  rmSync(copy, { recursive: true, force: true, maxRetries: 10 })
  return opm
}

function measureEmptyCache(directory: string): Measured {
  // Only the facts: the compiled program beside them belongs to the installation.
  rmSync(join(environment.CATALOG_BOT_CACHE, 'facts'), { recursive: true, force: true, maxRetries: 10 })
  return measure([...cli, directory], environment)
}

/** As the app does it: the facts of all files are at hand, one file has changed. */
function benchInProcess(directory: string, opm: Measured | undefined): void {
  const opened = openCatalogDirectory(directory)
  if (opened.kind !== 'files') throw new Error(opened.message)
  const facts = opened.files.map((file) => ({ path: file.path, bytes: bytesOf(file.read()) }))
  const files = facts.map(({ path, bytes }) => ({ path, facts: readFile(bytes) }))
  const times = facts.slice(0, 20).map(({ path, bytes }, index) => {
    const newBytes = Buffer.concat([bytes, Buffer.from(`# change ${index}\n`)])
    const started = performance.now()
    const changed = { path, facts: readFile(newBytes) }
    validateCatalog(assemble(files.map((file) => (file.path === path ? changed : file))), { profile: 'opm' })
    return performance.now() - started
  })
  const wallMs = median(times)
  const ratio = opm ? `, ${(opm.wallMs / wallMs).toFixed(0)} times opm's speed` : ''
  console.log(`\n${directory}: in process, one package changed: ${wallMs.toFixed(1)} ms wall${ratio}`)
}

function benchGrowth(megabytes: number): void {
  const directory = join(scratch, `generated-${megabytes}`)
  const bytes = generateCatalog(directory, megabytes)
  console.log(`\ngenerated: ${(bytes / 1e6).toFixed(0)} MB`)
  const few = megabytes > 50 ? 1 : runs
  const opm = opmCommand === undefined ? undefined : theirs(opmCommand, directory, few)
  if (opm) print('opm', opm)
  const ours = medianOf(few, () => measure([...cli, '--no-cache', directory], environment))
  print('cold, no cache', ours, opm)
  console.log(`  ${((ours.wallMs * 1e6) / bytes).toFixed(1)} ms for each MB`)
  rmSync(directory, { recursive: true, force: true, maxRetries: 10 })
}

function theirs(opm: string, directory: string, count = runs): Measured {
  return medianOf(count, () => measure([opm, 'validate', directory]))
}

function print(name: string, measured: Measured, opm?: Measured): void {
  const { wallMs, cpuMs, peakMB, status } = measured
  const own = `${wallMs.toFixed(0)} ms wall, ${cpuMs.toFixed(0)} ms CPU, ${peakMB.toFixed(0)} MB peak`
  const ratio = opm
    ? `; ${(opm.wallMs / wallMs).toFixed(1)} times opm's speed, ${(peakMB / opm.peakMB).toFixed(2)} times its memory`
    : ''
  console.log(`  ${name}: ${own}${ratio}${status === 0 ? '' : ` (exit ${status})`}`)
}

function bytesOf(read: Uint8Array | { readonly error: string }): Uint8Array {
  if ('error' in read) throw new Error(read.error)
  return read
}

function yamlFiles(directory: string): string[] {
  return readdirSync(directory, { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith('.yaml'))
    .sort()
    .map((path) => join(directory, path))
}

function sizeOf(directory: string): number {
  return readdirSync(directory, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .reduce((sum, entry) => sum + statSync(join(entry.parentPath, entry.name)).size, 0)
}
