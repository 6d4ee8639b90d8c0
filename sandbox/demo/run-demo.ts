// The demo: a simulated GitHub and registry, the bot, the pull requests, and a table of how each ended and why.
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import type { RunDemo } from '../../src/cli/demo.ts'
import { startBot } from './bot-process.ts'
import { openDemoWorld } from './demo-world.ts'
import { outcomeOf, type Told } from './outcome.ts'
import { readPublished } from './published-images.ts'
import { stories } from './stories.ts'

export const runDemo: RunDemo = async ({ say, verbose, keep, patience = 180_000 }) => {
  const started = performance.now()
  const tell = (line: string) =>
    say(`${((performance.now() - started) / 1000).toFixed(1).padStart(5)} s  ${line}`)
  const directory = await mkdtemp(join(tmpdir(), 'catalog-bot-demo-'))
  tell('starting a simulated GitHub and registry, with the catalog repository coast/operators')
  let isGood = false
  const coast = await openDemoWorld({ directory, publishes: true })
  try {
    tell(`GitHub is at ${coast.github.url}, the registry at ${coast.registry.url}; starting the bot`)
    const bot = await startBot({
      environment: coast.environment,
      logFile: join(directory, 'bot.log'),
      ...(verbose === true && { onLog: (line) => say(`         ${line}`) }),
    })
    try {
      coast.github.sendWebhooksTo(`${bot.address}/api/github/webhooks`)
      tell(`the bot listens at ${bot.address}`)
      const told: Told[] = []
      const opened = performance.now()
      const left = () => patience - (performance.now() - opened)
      for (const story of stories) {
        const pull = await coast.github.openPull(story.open(coast))
        told.push({ story, pull })
        tell(`#${pull.number} opened: ${story.tells}`)
      }
      const seen = new Map<number, string>()
      const all = () => told.map((each) => ({ ...each, outcome: outcomeOf(each, told, coast) }))
      while (!all().every(({ outcome }) => outcome.asItShouldBe && outcome.isTold) && left() > 0) {
        for (const { pull, outcome } of all()) {
          const line = `#${pull.number} ${outcome.state}${outcome.state === 'not checked yet' ? '' : ` (${outcome.why})`}`
          if (seen.get(pull.number) !== line && outcome.state !== 'not checked yet') tell(line)
          seen.set(pull.number, line)
        }
        await pause(100)
      }
      const ends = all()
      say('')
      for (const { pull, story, outcome } of ends) {
        say(
          `${outcome.asItShouldBe ? 'as expected' : 'NOT AS EXPECTED'}  #${pull.number} ${story.id}: ${outcome.state}`,
        )
        say(`    ${outcome.why}`)
      }
      const read = await readPublished(coast, Math.max(15_000, left()))
      say('')
      for (const line of read.lines) say(line)
      const good = read.isGood && ends.every(({ outcome }) => outcome.asItShouldBe)
      say('')
      tell(
        good
          ? 'every pull request ended as expected, and the images hold what was merged'
          : `not everything ended as expected; the bot's log is in ${directory}`,
      )
      if (keep !== undefined)
        await keep([
          `GitHub's REST API   ${coast.github.url}`,
          `the repository      ${coast.github.url}/coast/operators.git`,
          `the registry        ${coast.registry.url}`,
          `the bot             ${bot.address} (metrics at ${bot.address}/metrics)`,
          `the bot's log       ${join(directory, 'bot.log')}`,
        ])
      isGood = good
    } finally {
      await bot.kill()
    }
  } finally {
    await coast.stop()
  }
  // Not before the bot is gone: it goes on saying what it does, and its log is here.
  if (isGood) await rm(directory, { recursive: true, force: true, maxRetries: 10 }).catch(() => undefined)
  return isGood
}
