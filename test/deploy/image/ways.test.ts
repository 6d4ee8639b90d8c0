// The ways to install catalog-bot as a server, each from nothing to a merged pull request in the sandbox: `npm start`, and the image
// with the environment that Compose and the chart give it. Prints each step with its seconds. For the image alone, see
// image.test.ts; for the scheduled workflow, test/cli/once.test.ts; for the action, which merges nothing, test/cli/action.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { parse, parseAllDocuments } from 'yaml'
import { openDemoStory } from '../../../sandbox/demo/stories.ts'
import {
  demoRepositoryName,
  startDemoEnvironment,
  type DemoEnvironment,
} from '../../../sandbox/demo/demo-environment.ts'
import { waitUntil } from '../../stories/story-environment.ts'
import { createImageTestDirectory, describeIfImageAvailable, readImageLayout } from './image-layout.ts'
import { startContainer, unpackImage } from './run-container.ts'
import { createAppFromSetupPage, installGitHubApp } from './walk-setup.ts'

const projectRoot = join(import.meta.dirname, '../../..')
const readProjectFile = (...path: readonly string[]) => readFileSync(join(projectRoot, ...path), 'utf8')

type EnvironmentVariables = Readonly<Record<string, string>>

interface RunningBot {
  readonly lines: readonly string[]
  stop(signal: 'TERM' | 'KILL'): Promise<number | null>
}

/** A GitHub with a catalog repository, in which no App is installed. */
async function startSandboxWithoutApp(directory: string): Promise<DemoEnvironment> {
  const demo = await startDemoEnvironment({ directory })
  demo.github.uninstall(demo.github.installationOn(demoRepositoryName))
  return demo
}

/** What connects catalog-bot to the sandbox instead of GitHub. A user does not set these. */
const createSandboxEnvironmentVariables = ({ github, registry }: DemoEnvironment): EnvironmentVariables => ({
  GITHUB_URL: github.url,
  GITHUB_API_URL: github.url,
  GITHUB_THROTTLE: 'off',
  INSECURE_REGISTRIES: registry.host,
})

/** Follows the guide from the printed address on, and prints the transcript. */
async function followSetupGuideUntilMerge(
  way: string,
  demo: DemoEnvironment,
  bot: RunningBot,
): Promise<void> {
  const started = performance.now()
  const steps: string[] = []
  const note = (step: string) => steps.push(`${((performance.now() - started) / 1000).toFixed(1)} s  ${step}`)
  const findLine = async (pattern: RegExp): Promise<string> => {
    const find = () => bot.lines.map((line) => pattern.exec(line)?.[0]).find((match) => match)
    await waitUntil(`catalog-bot prints ${pattern.source}`, () => find() !== undefined, 60, bot.lines)
    return find() ?? ''
  }
  const setupUrl = await findLine(/http:\/\/localhost:\d+\/setup\?word=\S+/)
  note('1. the address of the setup page is printed')
  expect(await createAppFromSetupPage(setupUrl, 'coast')).toContain('App created')
  note('2. the App is created')
  await installGitHubApp(await findLine(/http:\S+\/installations\/new/), 'operators')
  note('3. the App is installed')
  const { pull } = await openDemoStory(demo, 'good update')
  note('4. a pull request is opened')
  await waitUntil('the pull request is merged', () => pull.merged !== null, 90, bot.lines)
  note(`5. it is merged, with ${demo.github.checkRuns(pull).length} checks`)
  console.log([`${way}, from nothing to a merged pull request:`, ...steps].join('\n  '))
}

describe('npm start in a checkout', () => {
  const directory = mkdtempSync(join(tmpdir(), 'way-'))
  let demo: DemoEnvironment
  let bot: RunningBot
  beforeAll(async () => {
    demo = await startSandboxWithoutApp(directory)
    bot = startBotWithNpm({
      ...createSandboxEnvironmentVariables(demo),
      DATA_DIR: join(directory, 'data'),
      PORT: '0',
      SWEEP_SECONDS: '2',
    })
  })
  afterAll(async () => {
    await bot?.stop('KILL')
    await demo?.stop()
    rmSync(directory, { recursive: true, force: true })
  })

  test('creates the App, and merges a pull request', async () => {
    await followSetupGuideUntilMerge('npm', demo, bot)
  })

  test('ends with SIGTERM to npm, and frees its port', async () => {
    const { url = '' } = /listening on (?<url>http:\S+)/.exec(bot.lines.join('\n'))?.groups ?? {}
    expect((await fetch(`${url}/livez`)).status).toBe(200)
    await bot.stop('TERM')
    await expect(fetch(`${url}/livez`)).rejects.toThrow()
  })
})

function startBotWithNpm(environment: EnvironmentVariables): RunningBot {
  const child = spawn('npm', ['start'], {
    cwd: projectRoot,
    env: { PATH: process.env['PATH'], HOME: process.env['HOME'], ...environment },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const exited = once(child, 'exit') as Promise<[number | null]>
  const lines: string[] = []
  for (const stream of [child.stdout, child.stderr])
    createInterface({ input: stream }).on('line', (line) => lines.push(line))
  return {
    lines,
    async stop(signal) {
      child.kill(`SIG${signal}`)
      return (await exited)[0]
    },
  }
}

/** The environment that Compose gives the container if no variable is set. */
function readComposeEnvironment(): EnvironmentVariables {
  const { services } = parse(readProjectFile('deploy/compose.yaml')) as {
    readonly services: { readonly bot: { readonly environment: Readonly<Record<string, string | null>> } }
  }
  return Object.fromEntries(
    Object.entries(services.bot.environment).flatMap(([name, value]) =>
      value === null ? [] : [[name, value.replace(/^\$\{\w+:-(.*)\}$/, '$1')]],
    ),
  )
}

/** The environment in the pod of a chart that was installed without credentials. */
function readChartEnvironment(): EnvironmentVariables {
  for (const document of parseAllDocuments(readProjectFile('test/deploy/rendered/setup.yaml'))) {
    const { kind, spec } = document.toJS() as {
      readonly kind: string
      readonly spec: {
        readonly template: {
          readonly spec: {
            readonly containers: readonly [
              { readonly env: readonly { readonly name: string; readonly value?: string }[] },
            ]
          }
        }
      }
    }
    if (kind === 'StatefulSet')
      return Object.fromEntries(
        spec.template.spec.containers[0].env.flatMap(({ name, value }) =>
          value === undefined ? [] : [[name, value]],
        ),
      )
  }
  throw new Error('the chart has no StatefulSet')
}

describeIfImageAvailable(['umoci', 'runc'])('the image', () => {
  let directory: string
  let bundle: string
  beforeAll(() => {
    directory = createImageTestDirectory()
    bundle = unpackImage(readImageLayout().path, join(directory, 'bundle'))
  })
  afterAll(() => rmSync(directory, { recursive: true, force: true }))

  test.each([
    ['Compose', readComposeEnvironment],
    ['the chart', readChartEnvironment],
  ])(
    'with the environment of %s creates the App, merges, and continues after a restart',
    async (way, read) => {
      const demo = await startSandboxWithoutApp(join(directory, way))
      const data = join(directory, way, 'data')
      const environment = { ...read(), ...createSandboxEnvironmentVariables(demo), SWEEP_SECONDS: '2' }
      let container = startContainer({ bundle, data, environment })
      try {
        await followSetupGuideUntilMerge(way, demo, container)
        expect(await container.stop('TERM')).toBe(0)
        container = startContainer({ bundle, data, environment })
        await waitUntil(
          'catalog-bot runs as the App again',
          () => container.lines.some((line) => /^catalog-bot is listening/.test(line)),
          60,
          container.lines,
        )
      } finally {
        await container.stop('KILL')
        await demo.stop()
      }
    },
    300_000,
  )
})
