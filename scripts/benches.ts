// Runs every benchmark by its npm script, with the smallest input, to check that it works on this machine. It does
// not measure anything. `npm run benches` exits with 1 and names the first benchmark that fails. A benchmark without
// an entry here also fails.
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { prebuiltPackageEnvVariable, buildCatalogBotCli } from '../bench/built-command.ts'
import { runBeside } from './run-beside.mjs'
import { startStepTimes } from './step-times.mjs'

const projectRoot = join(import.meta.dirname, '..')

/** The arguments that keep each benchmark short. */
const quickRunArguments: Readonly<Record<string, readonly string[]>> = {
  'bench:validate': ['--runs', '1', '--growth', '2'],
  'bench:hostile': ['--scale', '0.001', '--only', 'keys of JSON'],
  'bench:registry': ['--quick'],
  'bench:pull': ['--megabytes', '2'],
  'bench:build': ['', '1', '2'],
  'bench:deliveries': ['20', '1'],
  'bench:publish': ['2'],
  'bench:pages': ['--pulls', '20', '--runs', '3'],
  'bench:page-addresses': ['--addresses', '3000'],
  'bench:store': ['1'],
  'bench:install': ['--packages', '30', '--runs', '1'],
  'bench:strangers': ['--after', '1'],
  'bench:landing': ['2', '--megabytes', '1', '--latency', '1'],
  // A fixed seed and a fixed number of rounds on every machine. Otherwise a new finding would fail an unrelated
  // build. For real fuzzing, omit both.
  'fuzz:reader': ['--rounds', '1500', '--seed', '1'],
  'fuzz:archives': ['--rounds', '150', '--seed', '1'],
}

const scratchFolder = mkdtempSync(join(tmpdir(), 'benches-'))
process.on('exit', () => rmSync(scratchFolder, { recursive: true, force: true }))
const builtPackageFolder = join(scratchFolder, 'package')
buildCatalogBotCli(builtPackageFolder)

const { scripts } = JSON.parse(readFileSync(join(projectRoot, 'package.json'), 'utf8')) as {
  scripts: Record<string, string>
}
const stepTimer = startStepTimes()
const benchCommands = Object.keys(scripts)
  .filter((name) => /^(bench|fuzz):/.test(name))
  .map((script) => {
    const parameters = quickRunArguments[script]
    if (parameters === undefined)
      throw new Error(`scripts/benches.ts has no arguments for a short run of ${script}`)
    return {
      name: script,
      program: 'npm',
      args: ['run', '--silent', script, '--', ...parameters],
      options: {
        cwd: projectRoot,
        env: { ...process.env, [prebuiltPackageEnvVariable]: builtPackageFolder },
      },
    }
  })
const exitStatusWithoutGo = 2
// Benchmarks use separate ports and folders. Their measurements are ignored here, so they can run in parallel.
const benchResults = await runBeside(benchCommands, {
  isFine: ({ name, status }) => status === 0 || (name === 'fuzz:archives' && status === exitStatusWithoutGo),
  onEnd: ({ name, seconds }) => stepTimer.add(name, seconds),
})
for (const { name, status, signal } of benchResults)
  if (name === 'fuzz:archives' && status === exitStatusWithoutGo)
    console.log('SKIPPED the comparison with Go because go is not installed')
  else if (status !== 0) {
    console.error(`${name} exited with ${signal ?? status}`)
    process.exitCode = 1
  }
console.log(`\n${stepTimer.table()}`)
