// The ways to use catalog-bot in a workflow, each from the documented workflow to a merged pull request in the sandbox. Runs the
// steps as a GitHub Actions runner does, in a new clone of this project. Prints each step with its seconds. Installing the dependencies
// takes too long for the other tests, so this runs with those of the image.
import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { homedir, tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { parse } from 'yaml'
import {
  demoRepositoryName,
  startDemoEnvironment,
  type DemoEnvironment,
} from '../../../sandbox/demo/demo-environment.ts'
import type { AppPermissions, MockPull } from '../../../sandbox/github/github-data.ts'
import { openDemoStory } from '../../../sandbox/demo/stories.ts'
import { waitUntil } from '../../stories/story-environment.ts'
import { describeIfImageAvailable } from './image-layout.ts'

const execFileAsync = promisify(execFile)
const projectRoot = join(import.meta.dirname, '../../..')

type EnvironmentVariables = Readonly<Record<string, string | undefined>>

interface WorkflowStep {
  readonly run?: string
  readonly env?: Readonly<Record<string, string>>
  readonly 'working-directory'?: string
}
interface WorkflowJob {
  readonly permissions: Readonly<Record<string, string>>
  readonly steps: readonly WorkflowStep[]
}

/** The only job of the documented workflow that contains this text. */
function readDocumentedWorkflowJob(text: string): WorkflowJob {
  const guides = join(projectRoot, 'docs', 'how-to')
  for (const name of readdirSync(guides))
    for (const [, block = ''] of readFileSync(join(guides, name), 'utf8').matchAll(/```yaml\n([^]*?)```/g)) {
      if (!block.includes(text)) continue
      const [job] = Object.values(
        (parse(block) as { readonly jobs: Readonly<Record<string, WorkflowJob>> }).jobs,
      )
      if (job) return job
    }
  throw new Error(`no guide has a workflow with ${text}`)
}

/** Runs the `run` steps of a job. Rejects with the log of a step that fails. */
async function runWorkflowSteps(
  steps: readonly WorkflowStep[],
  directory: string,
  environment: EnvironmentVariables,
  expressions: Readonly<Record<string, string>>,
): Promise<void> {
  const evaluate = (text: string) =>
    text.replace(/\$\{\{ ([\w.-]+) \}\}/g, (_all, name: string) => expressions[name] ?? '')
  for (const { run, env = {}, 'working-directory': folder = directory } of steps) {
    if (run === undefined) continue
    const variables = Object.fromEntries(Object.entries(env).map(([name, text]) => [name, evaluate(text)]))
    // The sandbox answers in this process, so the step must not block it.
    const step = spawn('bash', ['--noprofile', '--norc', '-eo', 'pipefail', '-c', run], {
      cwd: evaluate(folder),
      env: { ...environment, ...variables },
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    let log = ''
    for (const stream of [step.stdout, step.stderr])
      stream.on('data', (chunk: Buffer) => (log += chunk.toString()))
    const [status] = (await once(step, 'close')) as [number | null]
    if (status !== 0) throw new Error(`${run} ended with ${String(status)}:\n${log}`)
  }
}

describeIfImageAvailable([])('in a workflow', () => {
  const directory = mkdtempSync(join(tmpdir(), 'workflow-'))
  const checkout = join(directory, 'catalog-bot')
  let demo: DemoEnvironment
  beforeAll(async () => {
    demo = await startDemoEnvironment({ directory: join(directory, 'sandbox') })
    demo.github.webhooks.drop()
    await execFileAsync('git', ['clone', '--quiet', '--no-local', projectRoot, checkout])
  })
  afterAll(async () => {
    await demo?.stop()
    rmSync(directory, { recursive: true, force: true })
  })

  /** The variables that a runner sets, and those that connect catalog-bot to the sandbox. */
  const runnerEnvironment = (): EnvironmentVariables => ({
    PATH: process.env['PATH'],
    // With npm's settings and cache.
    HOME: homedir(),
    GITHUB_API_URL: `${demo.github.url}/api/v3`,
    GITHUB_SERVER_URL: demo.github.url,
    GITHUB_REPOSITORY: demoRepositoryName,
    GITHUB_THROTTLE: 'off',
    INSECURE_REGISTRIES: demo.registry.host,
    NODE_EXTRA_CA_CERTS: process.env['NODE_EXTRA_CA_CERTS'],
  })

  const openStory = async (id: string) => (await openDemoStory(demo, id)).pull

  /** Records the steps of a person with their seconds, and prints them. */
  function startTranscript(way: string): { note(step: string): void; print(): void } {
    const started = performance.now()
    const lines = [`${way}, from a copied workflow to a merged pull request:`]
    return {
      note: (step) => lines.push(`${((performance.now() - started) / 1000).toFixed(1)} s  ${step}`),
      print: () => console.log(lines.join('\n  ')),
    }
  }

  test('the scheduled workflow merges a pull request with the permissions that it asks for', async () => {
    const transcript = startTranscript('once')
    const { permissions, steps } = readDocumentedWorkflowJob(' once --repository')
    const pull = await openStory('good update')
    transcript.note('1. the workflow is copied, and a pull request is opened')
    const tokenPermissions = Object.entries(permissions).map(([name, level]) => [
      name.replaceAll('-', '_'),
      level,
    ])
    await runWorkflowSteps(steps, checkout, runnerEnvironment(), {
      'github.token': demo.github.installationTokenFor(
        demoRepositoryName,
        Object.fromEntries(tokenPermissions) as AppPermissions,
      ),
    })
    expect(pull.merged).not.toBeNull()
    transcript.note(
      `2. the workflow has run and merged it, with ${demo.github.checkRuns(pull).length} checks`,
    )
    transcript.print()
  }, 300_000)

  test('the action approves a pull request that a person merges, and rejects another', async () => {
    const transcript = startTranscript('the action')
    const good = await openStory('first of two competing updates')
    const bad = await openStory('two channel heads')
    transcript.note('1. the workflow is copied, and two pull requests are opened')
    expect(await runAction(good)).toMatchObject({ verdict: 'unknown', errors: '0' })
    await expect(runAction(bad)).rejects.toThrow('several-heads')
    transcript.note('2. the action has checked both')
    expect(await callGitHub(good, 'PUT', '/merge')).toContain('"merged":true')
    expect(good.merged).not.toBeNull()
    transcript.note('3. a maintainer merges the good one')
    transcript.print()
  }, 300_000)

  /** Calls the API of a pull request as a maintainer. Resolves with the body of the response. */
  async function callGitHub(pull: MockPull, method = 'GET', path = ''): Promise<string> {
    const url = `${demo.github.url}/repos/${demoRepositoryName}/pulls/${pull.number}${path}`
    const headers = { authorization: `Bearer ${demo.github.tokenFor('harbormaster')}` }
    return (await fetch(url, { method, headers, body: method === 'GET' ? null : '{}' })).text()
  }

  /** Runs action.yml on a pull request, checked out as in the documented workflow. Returns its outputs. */
  async function runAction(pull: MockPull): Promise<Readonly<Record<string, string>>> {
    const workspace = join(directory, `pull-${pull.number}`)
    const git = (...args: readonly string[]) => execFileAsync('git', ['-C', workspace, ...args])
    mkdirSync(workspace)
    await git('init', '--quiet')
    // Asking for the pull request makes GitHub compute the merge commit.
    await waitUntil(
      'GitHub has a merge commit',
      async () => (await callGitHub(pull)).includes('"mergeable":true'),
      30,
      [],
    )
    await git(
      'fetch',
      '--quiet',
      '--depth=2',
      `${demo.github.url}/${demoRepositoryName}.git`,
      pull.testMerge ?? '',
    )
    await git('checkout', '--quiet', '--detach', 'FETCH_HEAD')
    const temporary = mkdtempSync(join(directory, 'runner-'))
    const files = { event: join(temporary, 'event.json'), output: join(temporary, 'output') }
    writeFileSync(files.output, '')
    writeFileSync(
      files.event,
      JSON.stringify({
        pull_request: {
          number: pull.number,
          user: { login: pull.author.login, id: pull.author.id },
          head: { sha: pull.headSha },
          base: { ref: 'main' },
        },
      }),
    )
    const { runs, inputs } = parse(readFileSync(join(checkout, 'action.yml'), 'utf8')) as {
      readonly runs: { readonly steps: readonly WorkflowStep[] }
      readonly inputs: Readonly<Record<string, { readonly default: string }>>
    }
    const environment = {
      ...runnerEnvironment(),
      RUNNER_TEMP: temporary,
      GITHUB_EVENT_NAME: 'pull_request',
      GITHUB_EVENT_PATH: files.event,
      GITHUB_OUTPUT: files.output,
      GITHUB_STEP_SUMMARY: join(temporary, 'summary'),
      GITHUB_WORKSPACE: workspace,
      GITHUB_ACTION_PATH: checkout,
    }
    await runWorkflowSteps(runs.steps, workspace, environment, {
      'runner.temp': temporary,
      'github.workspace': workspace,
      ...Object.fromEntries(Object.entries(inputs).map(([name, input]) => [`inputs.${name}`, input.default])),
      // The sandbox's registry is not one that clusters can pull from, which the action would report.
      'inputs.offline': 'true',
    })
    return Object.fromEntries(
      readFileSync(files.output, 'utf8')
        .split('\n')
        .map((line) => line.split('=', 2) as [string, string]),
    )
  }
})
