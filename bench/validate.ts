// Compares `validate` with `opm validate`: whole processes, medians, cold, warm, and with increasing sizes.
// catalog-bot is built and installed with its dependencies, as users install it. Usage: npm run bench:validate --
// [--opm PATH] [--runs N] [--cli "COMMAND"] [--growth 10,100,500] [DIR...]. Without DIR and --growth, uses a
// generated catalog of 20 MB. Uses the opm on the PATH by default, and reports if opm is missing.
import { cpSync, mkdtempSync, readFileSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { cpus, loadavg, tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { assembleCatalog } from '@catalog-bot/fbc/facts/catalog'
import { parseCatalogFile } from '../packages/fbc/src/load/parse-catalog-file.ts'
import { validateCatalog } from '../packages/fbc/src/model/validate-catalog.ts'
import { listCatalogDirectoryFiles } from '../src/catalogs/catalog-directory.ts'
import { isOnPath } from '../test/is-on-path.ts'
import { buildCatalogBotCli } from './built-command.ts'
import { generateCatalog } from './generated-catalog.ts'
import { measureProcess, computeMedian, measureProcessMedian } from './measured-process.ts'
import type { ProcessMeasurement } from './measured-process.ts'

const { values, positionals } = parseArgs({
  options: {
    opm: { type: 'string' },
    runs: { type: 'string', default: '5' },
    cli: { type: 'string' },
    growth: { type: 'string' },
  },
  allowPositionals: true,
})
const runCount = Number(values.runs)
const opmCommand = values.opm ?? (isOnPath('opm') ? 'opm' : undefined)
const scratchFolder = mkdtempSync(join(tmpdir(), 'bench-validate-'))
const validateCommand = [
  ...(values.cli?.split(' ') ?? buildCatalogBotCli(join(scratchFolder, 'package'))),
  'validate',
  '--profile',
  'opm',
  '-o',
  'json',
]
const cliEnvironment = { ...process.env, CATALOG_BOT_CACHE: join(scratchFolder, 'cache') }

try {
  console.log(
    `${cpus().length} CPUs (${cpus()[0]?.model}), load ${loadavg()[0]?.toFixed(1)}, medians of ${runCount}`,
  )
  if (opmCommand === undefined)
    console.log('opm is not on the PATH, so there is no comparison (.ci/build-opm DIRECTORY builds one)')
  const measured = listBenchmarkDirectories().map((directory) => ({
    directory,
    opm: measureDirectoryValidation(directory),
  }))
  for (const megabytes of values.growth?.split(',').map(Number) ?? [])
    measureGeneratedCatalogValidation(megabytes)
  // Last, because starting a process takes ten milliseconds longer from a large process.
  for (const { directory, opm } of measured) measureInProcessValidation(directory, opm)
} finally {
  rmSync(scratchFolder, { recursive: true, force: true, maxRetries: 10 })
}

function listBenchmarkDirectories(): readonly string[] {
  if (positionals.length > 0 || values.growth !== undefined) return positionals
  const generated = join(scratchFolder, 'generated')
  generateCatalog(generated, 20)
  return [generated]
}

/** Returns opm's result. */
function measureDirectoryValidation(directory: string): ProcessMeasurement | undefined {
  console.log(`\n${directory}: ${(computeDirectorySizeBytes(directory) / 1e6).toFixed(1)} MB`)
  const opm = opmCommand === undefined ? undefined : measureOpmValidate(opmCommand, directory)
  if (opm) printMeasurement('opm', opm)
  // One run without a measurement, because the program's compile cache is part of its installation.
  measureProcess([...validateCommand, '--no-cache', directory], cliEnvironment)
  printMeasurement(
    'cold, no cache',
    measureProcessMedian(runCount, () =>
      measureProcess([...validateCommand, '--no-cache', directory], cliEnvironment),
    ),
    opm,
  )
  printMeasurement(
    'cold, cache being filled',
    measureProcessMedian(runCount, () => measureColdCacheValidation(directory)),
    opm,
  )
  printMeasurement(
    'warm, nothing changed',
    measureProcessMedian(runCount, () => measureProcess([...validateCommand, directory], cliEnvironment)),
    opm,
  )

  const copy = join(scratchFolder, 'copy')
  cpSync(directory, copy, { recursive: true, dereference: true })
  const [changed] = listYamlFiles(copy)
  if (changed !== undefined) {
    const text = readFileSync(changed, 'utf8')
    const warm = measureProcessMedian(runCount, (run) => {
      // After the last document, because a comment before the first separator would be a separate document.
      writeFileSync(changed, `${text}# change ${run}\n`)
      return measureProcess([...validateCommand, copy], cliEnvironment)
    })
    printMeasurement('warm, one package changed', warm, opm)
  }
  rmSync(copy, { recursive: true, force: true, maxRetries: 10 })
  return opm
}

function measureColdCacheValidation(directory: string): ProcessMeasurement {
  // Only the catalog cache. The compile cache next to it is part of the installation.
  rmSync(join(cliEnvironment.CATALOG_BOT_CACHE, 'facts'), { recursive: true, force: true, maxRetries: 10 })
  return measureProcess([...validateCommand, directory], cliEnvironment)
}

/** Like the App: all files are cached, and one file has changed. */
function measureInProcessValidation(directory: string, opm: ProcessMeasurement | undefined): void {
  const opened = listCatalogDirectoryFiles(directory)
  if (opened.kind !== 'files') throw new Error(opened.message)
  const facts = opened.files.map((file) => ({ path: file.path, bytes: getFileBytesOrThrow(file.read()) }))
  const files = facts.map(({ path, bytes }) => ({ path, facts: parseCatalogFile(bytes) }))
  const times = facts.slice(0, 20).map(({ path, bytes }, index) => {
    const newBytes = Buffer.concat([bytes, Buffer.from(`# change ${index}\n`)])
    const started = performance.now()
    const changed = { path, facts: parseCatalogFile(newBytes) }
    validateCatalog(assembleCatalog(files.map((file) => (file.path === path ? changed : file))), {
      profile: 'opm',
    })
    return performance.now() - started
  })
  const wallMs = computeMedian(times)
  const ratio = opm ? `, ${(opm.wallMs / wallMs).toFixed(0)} times opm's speed` : ''
  console.log(`\n${directory}: in process, one package changed: ${wallMs.toFixed(1)} ms wall${ratio}`)
}

function measureGeneratedCatalogValidation(megabytes: number): void {
  const directory = join(scratchFolder, `generated-${megabytes}`)
  const bytes = generateCatalog(directory, megabytes)
  console.log(`\ngenerated: ${(bytes / 1e6).toFixed(0)} MB`)
  const few = megabytes > 50 ? 1 : runCount
  const opm = opmCommand === undefined ? undefined : measureOpmValidate(opmCommand, directory, few)
  if (opm) printMeasurement('opm', opm)
  const ours = measureProcessMedian(few, () =>
    measureProcess([...validateCommand, '--no-cache', directory], cliEnvironment),
  )
  printMeasurement('cold, no cache', ours, opm)
  console.log(`  ${((ours.wallMs * 1e6) / bytes).toFixed(1)} ms for each MB`)
  rmSync(directory, { recursive: true, force: true, maxRetries: 10 })
}

function measureOpmValidate(opm: string, directory: string, count = runCount): ProcessMeasurement {
  return measureProcessMedian(count, () => measureProcess([opm, 'validate', directory]))
}

function printMeasurement(name: string, measured: ProcessMeasurement, opm?: ProcessMeasurement): void {
  const { wallMs, cpuMs, peakMB, status } = measured
  const own = `${wallMs.toFixed(0)} ms wall, ${cpuMs.toFixed(0)} ms CPU, ${peakMB.toFixed(0)} MB peak`
  const ratio = opm
    ? `; ${(opm.wallMs / wallMs).toFixed(1)} times opm's speed, ${(peakMB / opm.peakMB).toFixed(2)} times its memory`
    : ''
  console.log(`  ${name}: ${own}${ratio}${status === 0 ? '' : ` (exit ${status})`}`)
}

function getFileBytesOrThrow(read: Uint8Array | { readonly error: string }): Uint8Array {
  if ('error' in read) throw new Error(read.error)
  return read
}

function listYamlFiles(directory: string): string[] {
  return readdirSync(directory, { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith('.yaml'))
    .sort()
    .map((path) => join(directory, path))
}

function computeDirectorySizeBytes(directory: string): number {
  return readdirSync(directory, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .reduce((sum, entry) => sum + statSync(join(entry.parentPath, entry.name)).size, 0)
}
