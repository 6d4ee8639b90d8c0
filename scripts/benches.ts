// Measures the figures in bench-figures.ts, and prints each next to what is wanted. Usage: npm run benches --
// [--rounds N] [--only TEXT] [REPOSITORY]   TEXT is a part of a name; default: a generated catalog repository
//   --short     measures only commands, by their processor time as a multiple of the time of a plain YAML reader in the
//               same run, and exits with 1 if a ratio exceeds the recorded one in benches.json by more than the tolerance
//   --update    records the ratios instead
//   --smallest  runs every benchmark with its smallest input to check that it works, and ignores the measurements
import { execFileSync, spawnSync } from 'node:child_process'
import {
  appendFileSync,
  cpSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { buildCatalogBotCli } from '../bench/built-command.ts'
import { generateRepository } from '../bench/generated-repository.ts'
import { measureProcess } from '../bench/measured-process.ts'
import { startBotEnvironment } from '../sandbox/demo/bot-environment.ts'
import { startBotProcess } from '../sandbox/demo/bot-process.ts'
import { isOnPath } from '../test/is-on-path.ts'
import {
  burstArguments,
  commandBenchmarks,
  measuredCommands,
  scriptFigures,
  smallestArguments,
  type BestRun,
  type MeasuredCommand,
  type WantedFigure,
} from './bench-figures.ts'
import { readCpuTimeMs } from './cpu-time.ts'
import { runInParallel } from './run-in-parallel.mjs'
import { startStepTimer } from './step-times.mjs'

/** Processor times relative to the reader's, which differ less between machines than the times do. */
interface RecordedRatios {
  readonly date: string
  /** The part of a recorded ratio by which a measured one may exceed it. */
  readonly tolerance: number
  readonly ratios: Readonly<Record<string, number>>
}

const projectRoot = join(import.meta.dirname, '..')
const recordedRatiosFile = join(import.meta.dirname, 'benches.json')
const { values: options, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    short: { type: 'boolean', default: false },
    update: { type: 'boolean', default: false },
    smallest: { type: 'boolean', default: false },
    rounds: { type: 'string' },
    only: { type: 'string', default: '' },
  },
})
const isShort = options.short || options.update
// Beside the checkout, because a temporary directory in memory has other costs than the disk that catalogs are on.
const scratchParent = join(projectRoot, 'node_modules/.cache')
mkdirSync(scratchParent, { recursive: true })
const scratchFolder = mkdtempSync(join(scratchParent, 'benches-'))
process.on('exit', () => rmSync(scratchFolder, { recursive: true, force: true, maxRetries: 10 }))
const cliCommand = await buildCatalogBotCli()
const readerName = 'plain YAML reader'
/** Reads one package with the package `yaml`, as a script that checks a catalog would. */
const readerSource = `import { parseAllDocuments } from 'yaml'
import { readFileSync } from 'node:fs'
for (const one of parseAllDocuments(readFileSync(process.argv[1], 'utf8'))) one.toJS()`

const addedChannelYaml = `---
schema: olm.channel
package: kube-green
name: bench
entries:
- name: kube-green.v0.7.1
`

if (options.smallest) await runSmallestBenches()
else {
  const best = await measureCommands()
  if (isShort) compareRatios(best)
  else printFigures(best)
}

/** The rounds of all commands are interleaved, so that other load affects all of them. */
async function measureCommands(): Promise<ReadonlyMap<string, BestRun>> {
  const paths = prepareRepository()
  const environment = { ...process.env, CATALOG_BOT_CACHE: join(scratchFolder, 'cache') }
  const environmentOfBot = await startBotEnvironment({ directory: scratchFolder })
  environmentOfBot.github.createOrganization('coast', [])
  await environmentOfBot.github.createRepository('coast', 'operators', { files: { 'README.md': '' } })
  const serveEnvironment = environmentOfBot.installBot('coast/operators')
  const measureOnce = async ({ name, command, status, program }: MeasuredCommand): Promise<BestRun> => {
    const words = command.split(' ').map((word) => paths[word] ?? word)
    if (words[0] === 'serve') return measureStart(serveEnvironment, words[1] === '@new')
    const run = measureProcess([...(program ? [program] : cliCommand), ...words], environment)
    if (run.status === status) return run
    throw new Error(`${name} exited with ${run.status}: ${run.output.slice(-500)}`)
  }
  const best = new Map<string, BestRun>()
  const selected = measuredCommands.filter(
    ({ name, program }) =>
      name.includes(options.only) && (program === undefined || (!isShort && isOnPath(program))),
  )
  const rounds = Number(options.rounds ?? (isShort ? 3 : 5))
  // Other load can affect all runs of one command, so a command that seems slower is measured in more rounds.
  const maxRounds = options.short ? 5 * rounds : rounds
  for (let round = 0; round <= maxRounds; round++) {
    const slower = findSlowerCommands(best)
    const commands = round <= rounds ? selected : selected.filter(({ name }) => slower.includes(name))
    if (commands.length === 0) break
    const reader = [process.execPath, '--input-type=module', '-e', readerSource, paths['@file'] ?? '']
    const runs = new Map<string, BestRun>([[readerName, measureProcess(reader, environment)]])
    // The first round fills the caches of the command line.
    for (const command of commands)
      if (round > 0 || !command.command.startsWith('serve'))
        runs.set(command.name, await measureOnce(command))
    if (round > 0)
      for (const [name, run] of runs) {
        const other = best.get(name) ?? run
        best.set(name, {
          wallMs: Math.min(run.wallMs, other.wallMs),
          cpuMs: Math.min(run.cpuMs, other.cpuMs),
          peakMB: Math.min(run.peakMB, other.peakMB),
        })
      }
  }
  await environmentOfBot.stop()
  return best
}

/** From the command to listening. */
async function measureStart(environment: Readonly<Record<string, string>>, isNew: boolean): Promise<BestRun> {
  if (isNew) rmSync(environment['DATA_DIR'] ?? '', { recursive: true, force: true, maxRetries: 10 })
  const [started, usedBefore] = [performance.now(), readCpuTimeMs()]
  const bot = await startBotProcess({ command: cliCommand, environment })
  const run = { wallMs: performance.now() - started, cpuMs: readCpuTimeMs() - usedBefore, peakMB: NaN }
  await bot.kill()
  return run
}

/** Creates the branches `main` and `change`, which changes one package. Returns the paths in commands. */
function prepareRepository(): Readonly<Record<string, string>> {
  const repository = join(scratchFolder, 'repository')
  const [source] = positionals
  if (source === undefined) generateRepository(repository, { catalogs: ['v4.20'], megabytes: 21 })
  else cpSync(source, repository, { recursive: true })
  const [catalog = ''] = readdirSync(join(repository, 'catalogs')).map((name) =>
    join(repository, 'catalogs', name),
  )
  const identity = ['-c', 'user.name=bench', '-c', 'user.email=bench@localhost']
  const git = (...args: readonly string[]) => execFileSync('git', [...identity, ...args], { cwd: repository })
  git('init', '--quiet', '--initial-branch=main')
  git('add', '.')
  git('commit', '--quiet', '--message=base')
  git('checkout', '--quiet', '-b', 'change')
  appendFileSync(join(catalog, 'kube-green', 'catalog.yaml'), addedChannelYaml)
  git('commit', '--quiet', '--all', '--message=change')
  git('checkout', '--quiet', 'main')
  const packages = readdirSync(catalog)
  const file = join(catalog, packages.includes('operator-0') ? 'operator-0' : 'kube-green', 'catalog.yaml')
  return { '@repository': repository, '@catalog': catalog, '@file': file }
}

function printRow(name: string, ...cells: readonly string[]): void {
  console.log(name.padEnd(46) + cells.map((cell) => cell.padStart(19)).join(''))
}

function computeRatio(best: ReadonlyMap<string, BestRun>, name: string): number {
  return (best.get(name)?.cpuMs ?? NaN) / (best.get(readerName)?.cpuMs ?? NaN)
}

function printFigures(best: ReadonlyMap<string, BestRun>): void {
  printRow('figure', 'measured', 'wanted', 'ratio to the reader', 'verdict')
  const print = ({ name, wanted, unit, isRate }: WantedFigure, value: number) => {
    const ratio = computeRatio(best, name)
    printRow(
      name,
      `${value < 10 ? value.toFixed(2) : value.toFixed(0)} ${unit}`,
      `${wanted} ${unit}`,
      Number.isNaN(ratio) ? '' : ratio.toFixed(2),
      (isRate ? value >= wanted : value <= wanted) ? 'kept' : 'MISSED',
    )
  }
  const none = { wallMs: NaN, cpuMs: NaN, peakMB: NaN }
  for (const figure of commandBenchmarks) {
    const value = figure.value((name) => best.get(name) ?? none)
    if (!Number.isNaN(value)) print(figure, value)
  }
  for (const [script, figures] of Object.entries(scriptFigures)) {
    if (!figures.some(({ name }) => name.includes(options.only))) continue
    const started = performance.now()
    const { stdout } = spawnSync(
      'npm',
      ['run', '--silent', script, '--', ...(script === 'bench:landing' ? burstArguments : [])],
      { cwd: projectRoot, encoding: 'utf8', maxBuffer: 64 * 1024 * 1024 },
    )
    const elapsedMs = performance.now() - started
    for (const figure of figures) {
      const found = figure.pattern ? Number(figure.pattern.exec(stdout)?.[1] ?? NaN) : elapsedMs
      if (Number.isNaN(found)) printRow(figure.name, 'not measured')
      else print(figure, found)
    }
  }
}

function readRecordedRatios(): RecordedRatios {
  return JSON.parse(readFileSync(recordedRatiosFile, 'utf8')) as RecordedRatios
}

function findSlowerCommands(best: ReadonlyMap<string, BestRun>): readonly string[] {
  const { ratios, tolerance } = readRecordedRatios()
  return [...best.keys()].filter(
    (name) => name !== readerName && computeRatio(best, name) > (ratios[name] ?? 0) * (1 + tolerance),
  )
}

function compareRatios(best: ReadonlyMap<string, BestRun>): void {
  const recorded = readRecordedRatios()
  const slower = findSlowerCommands(best)
  printRow('processor time', 'measured', 'ratio to the reader', 'recorded', 'verdict')
  const ratios: Record<string, number> = {}
  for (const [name, { cpuMs }] of best) {
    const ratio = computeRatio(best, name)
    const before = recorded.ratios[name] ?? (options.update ? ratio : 0)
    if (name !== readerName) ratios[name] = Number(ratio.toFixed(3))
    if (slower.includes(name) && !options.update) process.exitCode = 1
    printRow(
      name,
      `${cpuMs.toFixed(0)} ms`,
      ratio.toFixed(3),
      name === readerName ? '' : before.toFixed(3),
      name === readerName ? '' : options.update ? 'recorded' : slower.includes(name) ? 'SLOWER' : 'kept',
    )
  }
  if (options.update) {
    const date = new Date().toISOString().slice(0, 10)
    const updated: RecordedRatios = { ...recorded, date, ratios: { ...recorded.ratios, ...ratios } }
    writeFileSync(recordedRatiosFile, `${JSON.stringify(updated, undefined, 2)}\n`)
  }
}

/** Exits with 1 if a benchmark fails, or has no entry in `smallestArguments`. */
async function runSmallestBenches(): Promise<void> {
  const stepTimer = startStepTimer()
  const { scripts } = JSON.parse(readFileSync(join(projectRoot, 'package.json'), 'utf8')) as {
    scripts: Record<string, string>
  }
  const commands = Object.keys(scripts)
    .filter((name) => /^(bench|fuzz):/.test(name))
    .map((script) => {
      const parameters = smallestArguments[script]
      if (parameters === undefined)
        throw new Error(`scripts/bench-figures.ts has no arguments for a short run of ${script}`)
      return {
        name: script,
        program: 'npm',
        args: ['run', '--silent', script, '--', ...parameters],
        options: { cwd: projectRoot },
      }
    })
  const goMissingExitStatus = 2
  const results = await runInParallel(commands, {
    isFine: ({ name, status }) =>
      status === 0 || (name === 'fuzz:archives' && status === goMissingExitStatus),
    onEnd: ({ name, seconds }) => stepTimer.add(name, seconds),
  })
  for (const { name, status, signal } of results)
    if (name === 'fuzz:archives' && status === goMissingExitStatus)
      console.log('SKIPPED the comparison with Go because go is not installed')
    else if (status !== 0) {
      console.error(`${name} exited with ${signal ?? status}`)
      process.exitCode = 1
    }
  console.log(`\n${stepTimer.table()}`)
}
