// `once` in the sandbox: a sweep with a workflow's token merges what passes, without a server and without a webhook.
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { mkdir, mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parse } from 'yaml'
import { openDemoWorld, repositoryName, type DemoWorld } from '../../sandbox/demo/demo-world.ts'
import { stories } from '../../sandbox/demo/stories.ts'
import { systemClock } from '../../src/examine/system-clock.ts'
import { openTokenClient } from '../../src/github/token-client.ts'
import { trafficValidator } from '../sandbox/github/traffic-validator.ts'
import { keptCompiled } from '../kept-compiled.ts'

const cli = join(import.meta.dirname, '../../src/cli.ts')

/** What the workflow of docs/once.md gives its token, as an App's permissions are called. */
const permissions = Object.fromEntries(
  Object.entries(documentedWorkflow().jobs.sweep.permissions).map(([name, level]) => [
    name.replaceAll('-', '_'),
    level,
  ]),
)

interface Workflow {
  readonly on: Readonly<Record<string, unknown>>
  readonly permissions: Readonly<Record<string, never>>
  readonly jobs: {
    readonly sweep: {
      readonly permissions: Readonly<Record<string, 'read' | 'write'>>
      readonly steps: readonly {
        readonly uses?: string
        readonly run?: string
        readonly env?: Readonly<Record<string, string>>
        readonly with?: Readonly<Record<string, unknown>>
      }[]
    }
  }
}

function documentedWorkflow(): Workflow {
  const page = readFileSync(join(import.meta.dirname, '../../docs/once.md'), 'utf8')
  return parse(/```yaml\n(?<text>[\s\S]*?)```/.exec(page)?.groups?.['text'] ?? '') as Workflow
}

let directory: string
let coast: DemoWorld
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'once-'))
  coast = await openDemoWorld({ directory, validator: trafficValidator() })
  coast.github.webhooks.drop()
})
afterAll(async () => {
  await coast.stop()
  await rm(directory, { recursive: true, force: true })
})

interface Ran {
  readonly code: number
  readonly out: string
  readonly err: string
}

/** With the addresses that a runner of GitHub Enterprise Server has in its environment, and REST below `/api/v3`. */
function once(token: string, ...args: readonly string[]): Promise<Ran> {
  const env = {
    PATH: process.env['PATH'],
    HOME: directory,
    TMPDIR: join(directory, 'tmp'),
    GITHUB_API_URL: `${coast.github.url}/api/v3`,
    GITHUB_SERVER_URL: coast.github.url,
    GITHUB_THROTTLE: 'off',
    GITHUB_TOKEN: token,
    INSECURE_REGISTRIES: coast.registry.host,
    CATALOG_BOT_CACHE: keptCompiled,
  }
  const command = ['--no-warnings', cli, 'once', '--repository', repositoryName, ...args]
  return new Promise((resolve) =>
    execFile(process.execPath, command, { env }, (error, out, err) =>
      resolve({ code: error === null ? 0 : Number(error.code), out, err }),
    ),
  )
}

const story = (id: string) => {
  const found = stories.find((one) => one.id === id)
  if (found === undefined) throw new Error(`there is no story "${id}"`)
  return found
}

describe('the workflow to copy', () => {
  const { on, permissions: others, jobs } = documentedWorkflow()

  test('runs by the clock and by hand alone: never for what a pull request can choose', () => {
    expect(Object.keys(on).sort()).toEqual(['schedule', 'workflow_dispatch'])
  })

  test('gives its token to one command, and nothing to any other job', () => {
    expect(others).toEqual({})
    const withToken = jobs.sweep.steps.filter((step) => JSON.stringify(step).includes('github.token'))
    expect(withToken).toEqual([
      expect.objectContaining({ run: expect.stringContaining('once --repository "$GITHUB_REPOSITORY"') }),
    ])
  })

  test('pins each action by its commit, and checks nothing of a pull request out', () => {
    for (const { uses, with: given } of jobs.sweep.steps.filter((step) => step.uses !== undefined)) {
      expect(uses).toMatch(/^[\w./-]+@[0-9a-f]{40}$/)
      expect(JSON.stringify(given ?? {})).not.toContain('github.event')
    }
  })
})

describe('once', () => {
  test('merges what passes, leaves what must not be merged, and leaves nothing behind', async () => {
    await mkdir(join(directory, 'tmp'))
    const good = await coast.github.openPull(story('good update').open(coast))
    const bad = await coast.github.openPull(story("stranger's update").open(coast))
    const token = coast.github.installationTokenFor(repositoryName, permissions)
    const ran = await once(token, '-o', 'json')
    expect(ran).toMatchObject({ code: 0, err: '' })
    expect(JSON.parse(ran.out)).toMatchObject({
      pulls: [
        { pull: good.number, outcome: 'merged', reasons: [] },
        { pull: bad.number, outcome: 'wait', reasons: ['an owner of tidepool must approve'] },
      ],
      stops: [],
      left: [],
      failed: [],
    })
    expect(good.merged).not.toBeNull()
    expect(bad.merged).toBeNull()
    expect(coast.github.violations).toEqual([])
    expect(await readdir(join(directory, 'tmp'))).toEqual([])
    expect(`${ran.out}${ran.err}`).not.toContain(token)
  }, 180_000)

  test("refuses a person's token, and one that GitHub does not know", async () => {
    const open = (token: string) =>
      openTokenClient({ token, apiUrl: coast.github.url, throttle: false, clock: systemClock, warn: fail })
    const person = coast.github.tokenFor('harbormaster')
    await expect(open(person)).rejects.toMatchObject({ code: 'rejected', retryable: false })
    await expect(open(person)).rejects.toThrow('only Apps write check runs')
    await expect(open('ghs_unknown')).rejects.toMatchObject({ code: 'unauthorized' })
  })
})

function fail(why: string): never {
  throw new Error(why)
}
