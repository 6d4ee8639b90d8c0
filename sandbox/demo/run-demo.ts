// The demo: a simulated GitHub and registry, catalog-bot, the pull requests, and a table of their outcomes and the
// reasons.
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { execFileSync } from 'node:child_process'
import type { DemoRunner } from '../../src/cli/demo.ts'
import { startBotProcess } from './bot-process.ts'
import { startDemoEnvironment, type DemoEnvironment } from './demo-environment.ts'
import { evaluateDemoStory, type DemoStoryWithPull } from './story-outcome.ts'
import { demoStories } from './stories.ts'
import { RegistryCatalogPublisher } from '../../src/adapters/image/open-catalog-publisher.ts'
import { RegistryImagePusher } from '../../src/adapters/image/open-pusher.ts'
import { HttpRegistryClient } from '../../src/adapters/registry/open-registry.ts'
import { allowLoopbackRegistries } from '../../src/adapters/registry/transport/egress-policy.ts'
import { systemClock } from '../../src/adapters/system-clock.ts'
import { catalogImageRepository as image } from './set-up-publishing.ts'

const openShiftCatalogVersions = ['v4.19', 'v4.20'] as const

interface PublishedImagesReport {
  readonly lines: readonly string[]
  /** Whether every image contains exactly the files of the branch. */
  readonly isGood: boolean
}

export interface PulledCatalogImage {
  readonly digest: string
  readonly platforms: readonly string[]
  readonly files: readonly CatalogImageFile[]
  /** The contents of a file, or '' if it does not exist. */
  text(path: string): string
}

interface CatalogImageFile {
  readonly path: string
  readonly bytes: Uint8Array
}

export const runDemo: DemoRunner = async ({ print, verbose, keep, timeoutMs = 180_000 }) => {
  const started = performance.now()
  const printLine = (line: string) =>
    print(`${((performance.now() - started) / 1000).toFixed(1).padStart(5)} s  ${line}`)
  const directory = await mkdtemp(join(tmpdir(), 'catalog-bot-demo-'))
  printLine('starting a simulated GitHub and registry with the catalog repository coast/operators')
  let isGood = false
  const coast = await startDemoEnvironment({ directory, publishes: true })
  try {
    printLine(`GitHub: ${coast.github.url}, registry: ${coast.registry.url}; starting catalog-bot`)
    const bot = await startBotProcess({
      environment: coast.environment,
      logFile: join(directory, 'bot.log'),
      ...(verbose === true && { onLog: (line) => print(`         ${line}`) }),
    })
    try {
      coast.github.sendWebhooksTo(`${bot.url}/api/github/webhooks`)
      printLine(`catalog-bot is listening on ${bot.url}`)
      const openedStories: DemoStoryWithPull[] = []
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
          const line = `#${pull.number} ${outcome.state}${outcome.state === 'not checked yet' ? '' : ` (${truncateAtWordBoundary(outcome.reason, 120)})`}`
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
        for (const line of wrapWords(truncateAtWordBoundary(outcome.reason, 400), 96)) print(`    ${line}`)
      }
      const read = await verifyPublishedImages(coast, Math.max(15_000, remainingMs()))
      print('')
      for (const line of read.lines) print(line)
      const good = read.isGood && ends.every(({ outcome }) => outcome.isExpected)
      print('')
      printLine(
        good
          ? 'every pull request ended as expected, and the images match the merged catalogs'
          : `some pull requests did not end as expected; see catalog-bot's log in ${directory}`,
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

/** Returns the text, shortened to at most `maxLength` characters between two words. */
export function truncateAtWordBoundary(text: string, maxLength: number): string {
  if (text.length <= maxLength) return text
  const end = text.lastIndexOf(' ', maxLength - 1)
  return end < 0 ? text : `${text.slice(0, end).replace(/[,;:]$/, '')}…`
}

/** Splits text between words into lines of at most `width` characters. A longer word has its own line. */
export function wrapWords(text: string, width: number): readonly string[] {
  const lines: string[] = []
  for (const word of text.split(' ')) {
    const last = lines.at(-1)
    if (last !== undefined && last.length + 1 + word.length <= width)
      lines[lines.length - 1] = `${last} ${word}`
    else lines.push(word)
  }
  return lines
}

/** Reads catalog images from a registry on this machine, like any client that pulls them. */
export function createCatalogImageReader(host: string): {
  /** The reference, `repository:tag`. Undefined until the image exists. */
  readonly read: (name: string) => Promise<PulledCatalogImage | undefined>
} {
  return {
    async read(name) {
      const reading = { clock: systemClock, egress: allowLoopbackRegistries(host), credentials: [] }
      const registry = new HttpRegistryClient(reading)
      const publisher = new RegistryCatalogPublisher({ registry, pusher: new RegistryImagePusher(reading) })
      try {
        if ((await publisher.digestOf(`${host}/${name}`)) === undefined) return undefined
        const { digest, platforms, files } = await publisher.read(`${host}/${name}`)
        return {
          digest,
          platforms,
          files,
          text: (path) => Buffer.from(files.find((one) => one.path === path)?.bytes ?? []).toString(),
        }
      } finally {
        await publisher.close()
        await registry.close()
      }
    },
  }
}

/** Reads each image and compares its catalog with the branch. Waits up to this time for the last one. */
export async function verifyPublishedImages(
  coast: Pick<DemoEnvironment, 'registry' | 'repository'>,
  milliseconds: number,
): Promise<PublishedImagesReport> {
  const { host } = coast.registry
  const end = performance.now() + milliseconds
  const lines: string[] = []
  let isGood = true
  for (const version of openShiftCatalogVersions) {
    let found = await readOne(version)
    while (!found.isSame && performance.now() < end) {
      await pause(200)
      found = await readOne(version)
    }
    lines.push(...found.lines)
    isGood &&= found.isSame
  }
  return { lines, isGood }

  async function readOne(version: string) {
    const name = `${image}:${version}`
    const read = await createCatalogImageReader(host).read(name)
    if (read === undefined) return { isSame: false, lines: [`NOT PUBLISHED  ${host}/${name}`] }
    const { digest, files, platforms } = read
    const root = `catalogs/${version}`
    const isSame =
      files.length > 0 &&
      serializeFilesForComparison(files) === serializeFilesForComparison(readCatalogFilesFromGit(coast, root))
    const bundles = files.map(
      ({ path, bytes }) =>
        `${path.split('/')[0]} (${Buffer.from(bytes).toString().split('schema: olm.bundle').length - 1})`,
    )
    return {
      isSame,
      lines: [
        `published  ${host}/${name} as ${digest} for ${platforms.join(' and ')}`,
        `verified   ${isSame ? `equal to ${root} on main` : `DIFFERENT from ${root} on main`}; bundles: ${bundles.join(', ')}`,
      ],
    }
  }
}

function readCatalogFilesFromGit(
  { repository }: Pick<DemoEnvironment, 'repository'>,
  root: string,
): readonly CatalogImageFile[] {
  const git = (...args: string[]) => execFileSync('git', ['-C', repository.path, ...args])
  return git('ls-tree', '-r', '--name-only', 'main', `${root}/`)
    .toString()
    .trim()
    .split('\n')
    .map((path) => ({ path: path.slice(root.length + 1), bytes: git('show', `main:${path}`) }))
}

function serializeFilesForComparison(files: readonly CatalogImageFile[]): string {
  return files
    .map(({ path, bytes }) => `${path}\n${Buffer.from(bytes).toString('base64')}`)
    .sort()
    .join('\n')
}
