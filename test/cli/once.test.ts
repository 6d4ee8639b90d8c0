// `once` in the sandbox: a sweep with a workflow's token merges passing pull requests, without a server or a webhook.
import { afterAll, describe, expect, test } from '@jest/globals'
import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { mkdir, mkdtemp, readdir, rm } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pino from 'pino'
import { parse } from 'yaml'
import { buildCatalogBotCli } from '../../bench/built-command.ts'
import { startDemoEnvironment, demoRepositoryName } from '../../sandbox/demo/demo-environment.ts'
import { demoStories } from '../../sandbox/demo/stories.ts'
import { sweepOnce } from '../../src/server/sweep-once/sweep-once.ts'
import { treeMismatchMarkerPrefix } from '../../src/report/base-branch-issues.ts'
import { readSettings } from '../../src/jobs/settings.ts'
import { openStore } from '../../src/adapters/store/store.ts'
import { copyPreparedStore } from '../adapters/store/prepared-store.ts'
import { systemClock } from '../../src/adapters/system-clock.ts'
import { createGitHubClientFromToken } from '../../src/adapters/github/github-app.ts'
import { getTrafficValidator } from '../sandbox/github/traffic-validator.ts'
import { compileCacheDirectory } from '../compile-cache.ts'

const [program = '', ...programArguments] = await buildCatalogBotCli()

/** The token permissions of the workflow in docs/how-to/actions.md, under the names of App permissions. */
const documentedWorkflowPermissions = Object.fromEntries(
  Object.entries(readDocumentedWorkflow().jobs.sweep.permissions).map(([name, level]) => [
    name.replaceAll('-', '_'),
    level,
  ]),
)

interface DocumentedWorkflow {
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

function readDocumentedWorkflow(): DocumentedWorkflow {
  const page = readFileSync(join(import.meta.dirname, '../../docs/how-to/actions.md'), 'utf8')
  const [, workflow = ''] = [...page.matchAll(/```yaml\n([\s\S]*?)```/g)].map(([, text = '']) => text)
  return parse(workflow) as DocumentedWorkflow
}

/** A span in the JSON encoding of OTLP: https://opentelemetry.io/docs/specs/otlp/. */
interface OtlpSpan {
  readonly name: string
  readonly traceId: string
  readonly spanId: string
  readonly parentSpanId?: string
  readonly attributes: readonly { readonly key: string; readonly value: unknown }[]
}

const receivedSpans: OtlpSpan[] = []
const traceCollector = createServer((request, response) => {
  let text = ''
  request.on('data', (piece: Buffer) => (text += piece.toString()))
  request.on('end', () => {
    const { resourceSpans } = JSON.parse(text) as {
      resourceSpans: readonly { scopeSpans: readonly { spans: readonly OtlpSpan[] }[] }[]
    }
    for (const { scopeSpans } of resourceSpans)
      for (const scope of scopeSpans) receivedSpans.push(...scope.spans)
    response.writeHead(200, { 'content-type': 'application/json' }).end('{}')
  })
})

await new Promise<void>((resolve) => traceCollector.listen(0, '127.0.0.1', resolve))
const temporaryDirectory = await mkdtemp(join(tmpdir(), 'once-'))
const demo = await startDemoEnvironment({ directory: temporaryDirectory, validator: getTrafficValidator() })
demo.github.webhooks.drop()
afterAll(async () => {
  traceCollector.close()
  traceCollector.closeAllConnections()
  await demo.stop()
  await rm(temporaryDirectory, { recursive: true, force: true })
})

interface OnceCommandResult {
  readonly code: number
  readonly out: string
  readonly err: string
}

/** Runs `once` with the URLs that a GitHub Enterprise Server runner sets, with REST below `/api/v3`. */
function runOnceCommand(token: string, ...args: readonly string[]): Promise<OnceCommandResult> {
  const env = {
    PATH: process.env['PATH'],
    HOME: temporaryDirectory,
    TMPDIR: join(temporaryDirectory, 'tmp'),
    GITHUB_API_URL: `${demo.github.url}/api/v3`,
    GITHUB_SERVER_URL: demo.github.url,
    GITHUB_THROTTLE: 'off',
    GITHUB_TOKEN: token,
    INSECURE_REGISTRIES: demo.registry.host,
    CATALOG_BOT_CACHE: compileCacheDirectory,
    OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${(traceCollector.address() as AddressInfo).port}`,
  }
  const command = [...programArguments, 'once', '--repository', demoRepositoryName, ...args]
  return new Promise((resolve) =>
    execFile(program, command, { env }, (error, out, err) =>
      resolve({ code: error === null ? 0 : Number(error.code), out, err }),
    ),
  )
}

const findDemoStory = (id: string) => {
  const found = demoStories.find((one) => one.id === id)
  if (found === undefined) throw new Error(`there is no story "${id}"`)
  return found
}

describe('the workflow to copy', () => {
  const { on, permissions: others, jobs } = readDocumentedWorkflow()

  test('runs only on a schedule or manually, never on an event that a pull request can trigger', () => {
    expect(Object.keys(on).sort()).toEqual(['schedule', 'workflow_dispatch'])
  })

  test('gives its token to one command, and no permissions to any other job', () => {
    expect(others).toEqual({})
    expect(jobs.sweep.steps.filter((step) => JSON.stringify(step).includes('github.token'))).toEqual([
      expect.objectContaining({ run: expect.stringContaining('once --repository "$GITHUB_REPOSITORY"') }),
    ])
  })

  test('pins each action by its commit, and checks out nothing from a pull request', () => {
    for (const { uses, with: given } of jobs.sweep.steps.filter((step) => step.uses !== undefined)) {
      expect(uses).toMatch(/^[\w./-]+@[0-9a-f]{40}$/)
      expect(JSON.stringify(given ?? {})).not.toContain('github.event')
    }
  })
})

describe('once', () => {
  test('merges a passing pull request, not an unapproved one, and leaves no files behind', async () => {
    await mkdir(join(temporaryDirectory, 'tmp'))
    const good = await demo.github.openPull(findDemoStory('good update').open(demo))
    const bad = await demo.github.openPull(findDemoStory('update by a non-owner').open(demo))
    const token = demo.github.installationTokenFor(demoRepositoryName, documentedWorkflowPermissions)
    const ran = await runOnceCommand(token, '-o', 'json')
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
    expect(demo.github.violations).toEqual([])
    expect(await readdir(join(temporaryDirectory, 'tmp'))).toEqual([])
    expect(`${ran.out}${ran.err}`).not.toContain(token)

    // The traces of the same run show a job for that pull request, with its steps as child spans.
    const jobs = receivedSpans.filter(({ name, attributes }) => {
      const pull = attributes.find(({ key }) => key === 'catalog_bot.pull')
      return name === 'job pull' && JSON.stringify(pull?.value) === `{"intValue":${good.number}}`
    })
    expect(jobs.length).toBeGreaterThan(0)
    const parts = jobs.flatMap((job) =>
      receivedSpans.filter(
        ({ parentSpanId, traceId }) => parentSpanId === job.spanId && traceId === job.traceId,
      ),
    )
    expect(parts.map(({ name }) => name)).toEqual(
      expect.arrayContaining(['github.readSnapshot', 'git.fetch', 'look.look', 'github.perform']),
    )
    expect(receivedSpans.some(({ name }) => name.startsWith('git.land'))).toBe(true)
    expect(JSON.stringify(receivedSpans)).not.toContain(token)
  })

  test("rejects a person's token, and one that GitHub does not know", async () => {
    const open = (token: string) =>
      createGitHubClientFromToken({
        token,
        apiUrl: demo.github.url,
        throttle: false,
        clock: systemClock,
        warn: throwErrorWithMessage,
      })
    const person = demo.github.tokenFor('harbormaster')
    await expect(open(person)).rejects.toMatchObject({ code: 'rejected', retryable: false })
    await expect(open(person)).rejects.toThrow('Only Apps can write check runs')
    await expect(open('ghs_unknown')).rejects.toMatchObject({ code: 'unauthorized' })
  })

  test('freezes merging for an open issue about a failed verification if its store is new, not after an unfreeze', async () => {
    const repository = { owner: 'coast', name: 'operators' }
    const token = demo.github.installationTokenFor(demoRepositoryName, documentedWorkflowPermissions)
    const reported = await fetch(`${demo.github.url}/repos/${demoRepositoryName}/issues`, {
      method: 'POST',
      headers: { authorization: `token ${token}` },
      body: JSON.stringify({ title: 'frozen', body: `${treeMismatchMarkerPrefix}${'c'.repeat(40)} -->` }),
    })
    expect(reported.status).toBe(201)
    const folder = join(temporaryDirectory, 'evicted')
    const dataDirectory = join(folder, 'store')
    await copyPreparedStore(dataDirectory)
    const { out } = await runOnceCommand(token, '-o', 'json', '--data', folder)
    expect(JSON.parse(out)).toMatchObject({
      stops: [{ reason: expect.stringMatching(/failed merge verification and is still open/) }],
    })
    const store = await openStore({ dataDirectory, clock: systemClock, lockTimeoutMs: 0 })
    await store.unfreezeMerges({ repository, kinds: ['audit'], by: { kind: 'bot' }, reason: '' })
    await store.close()
    const sweep = (environment: Readonly<Record<string, string>>) =>
      sweepOnce({
        repository,
        token,
        settings: readSettings({ GITHUB_API_URL: demo.github.url, GITHUB_URL: demo.github.url, GITHUB_THROTTLE: 'off' }), // prettier-ignore
        folder,
        environment,
        log: pino({ level: 'silent' }),
        signal: new AbortController().signal,
      })
    // If something else cannot be opened, it closes its store, so that the process ends.
    await expect(sweep({ REGISTRY_PROXY: 'nonsense' })).rejects.toThrow('REGISTRY_PROXY must be one of')
    expect(await sweep({})).toMatchObject({ stops: [], failed: [] })
  })
})

function throwErrorWithMessage(why: string): never {
  throw new Error(why)
}
