// One package's update on a real catalog repository, end to end: start of the bot, first verdict, landing, and the
// second verdict when everything is known already. `npm run bench:pull -- [--megabytes N] [DIR]`, DIR with `catalogs/v4.20` and
// `operators/kube-green`; without it a generated repository of three catalogs of N MB, 20 unless told.
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { startBot } from '../sandbox/demo/bot-process.ts'
import { generateRepository } from './generated-repository.ts'
import { openRealWorld } from '../test/stories/real-catalog.ts'

const directory = await mkdtemp(join(tmpdir(), 'bench-pull-'))
const { values, positionals } = parseArgs({
  options: { megabytes: { type: 'string', default: '20' } },
  allowPositionals: true,
})
const [source = join(directory, 'generated')] = positionals
if (positionals.length === 0)
  generateRepository(source, { catalogs: ['v4.16', 'v4.20', 'v4.21'], megabytes: Number(values.megabytes) })
const world = await openRealWorld(source, directory)
const say = (what: string, milliseconds: number) =>
  process.stdout.write(`${what.padEnd(58)} ${milliseconds.toFixed(0).padStart(6)} ms\n`)
const timed = async (what: string, holds: () => boolean) => {
  const started = performance.now()
  while (!holds()) {
    if (performance.now() - started > 120_000) throw new Error(`not within two minutes: ${what}`)
    await pause(5)
  }
  say(what, performance.now() - started)
}
const durations: number[] = []
const starting = performance.now()
const bot = await startBot({
  environment: world.environment,
  onLog: (line) => {
    const looked = /"examined":(?<ms>\d+)/.exec(line)?.groups?.ms
    if (looked !== undefined) durations.push(Number(looked))
  },
})
try {
  say('cold start: from the command to listening', performance.now() - starting)
  world.github.sendWebhooksTo(`${bot.address}/api/github/webhooks`)
  const first = await world.github.openPull(world.update('v4.20'))
  await timed('first pull request, nothing known: opened to landed', () => first.merged !== null)
  await timed('  landed to rebuilt', () => world.isRebuilt(first))
  const second = await world.github.openPull(world.update('v4.21'))
  await timed('another catalog, its facts not known yet: opened to landed', () => second.merged !== null)
  await pause(3000)
  durations.length = 0
  const third = await world.github.openPull(world.update('v4.16'))
  await timed('another big catalog, first time: opened to landed', () => third.merged !== null)
  await pause(3000)
  durations.length = 0
  const fourth = await world.github.openPull(world.again('v4.16'))
  await timed('the same catalog, warm: opened to landed', () => fourth.merged !== null)
  for (const time of durations) say('  its looks: merge to verdict', time)
} finally {
  await bot.kill('SIGKILL')
  await world.stop()
  await rm(directory, { recursive: true, force: true, maxRetries: 10 })
}
