// Measures the update of one package in a real catalog repository, end to end: the start of catalog-bot, the first
// verdict, the merge, and the second verdict with warm caches. `npm run bench:pull -- [--megabytes N] [DIR]`, where
// DIR contains `catalogs/v4.20` and `operators/kube-green`. Without it, uses a generated repository of three catalogs
// of N MB, 20 by default.
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { startBotProcess } from '../sandbox/demo/bot-process.ts'
import { buildCatalogBotCli } from './built-command.ts'
import { generateRepository } from './generated-repository.ts'
import { createRealCatalogEnvironment } from '../test/stories/real-catalog-environment.ts'

const dataDirectory = await mkdtemp(join(tmpdir(), 'bench-pull-'))
const { values, positionals } = parseArgs({
  options: { megabytes: { type: 'string', default: '20' } },
  allowPositionals: true,
})
const [source = join(dataDirectory, 'generated')] = positionals
if (positionals.length === 0)
  generateRepository(source, { catalogs: ['v4.16', 'v4.20', 'v4.21'], megabytes: Number(values.megabytes) })
const realCatalogEnvironment = await createRealCatalogEnvironment(source, dataDirectory)
const printDuration = (label: string, milliseconds: number) =>
  process.stdout.write(`${label.padEnd(58)} ${milliseconds.toFixed(0).padStart(6)} ms\n`)
const measureTimeUntilCondition = async (label: string, holds: () => boolean) => {
  const started = performance.now()
  while (!holds()) {
    if (performance.now() - started > 120_000) throw new Error(`not within two minutes: ${label}`)
    await pause(5)
  }
  printDuration(label, performance.now() - started)
}
const evaluationDurationsMs: number[] = []
const command = await buildCatalogBotCli()
const botStartTimeMs = performance.now()
const botProcess = await startBotProcess({
  command,
  environment: realCatalogEnvironment.environment,
  onLog: (line) => {
    const evaluationMs = /"examined":(?<ms>\d+)/.exec(line)?.groups?.ms
    if (evaluationMs !== undefined) evaluationDurationsMs.push(Number(evaluationMs))
  },
})
try {
  printDuration('cold start: from the command to listening', performance.now() - botStartTimeMs)
  realCatalogEnvironment.github.sendWebhooksTo(`${botProcess.url}/api/github/webhooks`)
  const first = await realCatalogEnvironment.github.openPull(realCatalogEnvironment.update('v4.20'))
  await measureTimeUntilCondition(
    'first pull request, empty caches: opened to merged',
    () => first.merged !== null,
  )
  await measureTimeUntilCondition('  merged to rebuilt', () => realCatalogEnvironment.isRebuilt(first))
  const second = await realCatalogEnvironment.github.openPull(realCatalogEnvironment.update('v4.21'))
  await measureTimeUntilCondition(
    'another catalog, not cached yet: opened to merged',
    () => second.merged !== null,
  )
  await pause(3000)
  evaluationDurationsMs.length = 0
  const third = await realCatalogEnvironment.github.openPull(realCatalogEnvironment.update('v4.16'))
  await measureTimeUntilCondition(
    'another big catalog, first time: opened to merged',
    () => third.merged !== null,
  )
  await pause(3000)
  evaluationDurationsMs.length = 0
  const fourth = await realCatalogEnvironment.github.openPull(realCatalogEnvironment.again('v4.16'))
  await measureTimeUntilCondition('the same catalog, warm: opened to merged', () => fourth.merged !== null)
  for (const time of evaluationDurationsMs) printDuration('  its evaluations: merge to verdict', time)
} finally {
  await botProcess.kill('SIGKILL')
  await realCatalogEnvironment.stop()
  await rm(dataDirectory, { recursive: true, force: true, maxRetries: 10 })
}
