// The demo: a simulated GitHub and registry, catalog-bot, the pull requests, and a table of their outcomes and the
// reasons.
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import type { DemoRunner } from '../../src/cli/demo.ts'
import { startBot } from './bot-process.ts'
import { openDemoEnvironment } from './demo-environment.ts'
import { evaluateDemoStory, type OpenedDemoStory } from './story-outcome.ts'
import { shorten, wrapWords } from './terminal-text.ts'
import { verifyPublishedImages } from './verify-published-images.ts'
import { demoStories } from './stories.ts'

export const runDemo: DemoRunner = async ({ print, verbose, keep, timeoutMs = 180_000 }) => {
  const started = performance.now()
  const printLine = (line: string) =>
    print(`${((performance.now() - started) / 1000).toFixed(1).padStart(5)} s  ${line}`)
  const directory = await mkdtemp(join(tmpdir(), 'catalog-bot-demo-'))
  printLine('starting a simulated GitHub and registry with the catalog repository coast/operators')
  let isGood = false
  const coast = await openDemoEnvironment({ directory, publishes: true })
  try {
    printLine(`GitHub: ${coast.github.url}, registry: ${coast.registry.url}; starting catalog-bot`)
    const bot = await startBot({
      environment: coast.environment,
      logFile: join(directory, 'bot.log'),
      ...(verbose === true && { onLog: (line) => print(`         ${line}`) }),
    })
    try {
      coast.github.sendWebhooksTo(`${bot.url}/api/github/webhooks`)
      printLine(`catalog-bot is listening on ${bot.url}`)
      const openedStories: OpenedDemoStory[] = []
      const opened = performance.now()
      const remainingMs = () => timeoutMs - (performance.now() - opened)
      for (const story of demoStories) {
        const pull = await coast.github.openPull(story.open(coast))
        openedStories.push({ story, pull })
        printLine(`#${pull.number} opened: ${story.description}`)
      }
      const lastStates = new Map<number, string>()
      const listOutcomes = () =>
        openedStories.map((each) => ({ ...each, outcome: evaluateDemoStory(each, openedStories, coast) }))
      while (
        !listOutcomes().every(({ outcome }) => outcome.isExpected && outcome.hasComment) &&
        remainingMs() > 0
      ) {
        for (const { pull, outcome } of listOutcomes()) {
          const line = `#${pull.number} ${outcome.state}${outcome.state === 'not checked yet' ? '' : ` (${shorten(outcome.reason, 120)})`}`
          if (lastStates.get(pull.number) !== line && outcome.state !== 'not checked yet') printLine(line)
          lastStates.set(pull.number, line)
        }
        await pause(100)
      }
      const ends = listOutcomes()
      print('')
      for (const { pull, story, outcome } of ends) {
        print(
          `${outcome.isExpected ? 'as expected' : 'NOT AS EXPECTED'}  #${pull.number} ${story.id}: ${outcome.state}`,
        )
        for (const line of wrapWords(shorten(outcome.reason, 400), 96)) print(`    ${line}`)
      }
      const read = await verifyPublishedImages(coast, Math.max(15_000, remainingMs()))
      print('')
      for (const line of read.lines) print(line)
      const good = read.isGood && ends.every(({ outcome }) => outcome.isExpected)
      print('')
      printLine(
        good
          ? 'every pull request ended as expected, and the images match the merged catalogs'
          : `some outcomes were not as expected; see catalog-bot's log in ${directory}`,
      )
      if (keep !== undefined)
        await keep([
          `GitHub's REST API   ${coast.github.url}`,
          `repository          ${coast.github.url}/coast/operators.git`,
          `registry            ${coast.registry.url}`,
          `catalog-bot         ${bot.url} (metrics: ${bot.url}/metrics)`,
          `catalog-bot's log   ${join(directory, 'bot.log')}`,
        ])
      isGood = good
    } finally {
      await bot.kill()
    }
  } finally {
    await coast.stop()
  }
  // Waits until catalog-bot has exited, because it writes its log to this directory.
  if (isGood) await rm(directory, { recursive: true, force: true, maxRetries: 10 }).catch(() => undefined)
  return isGood
}
