// The canary in the sandbox: each rule behaves as expected, a deviating rule is found, and no leftovers remain.
import { afterAll, afterEach, describe, expect, test } from '@jest/globals'
import { spawn } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startMockGitHub } from '../../sandbox/github/github.ts'
import { canaryProbes } from '../../scripts/canary/probes.ts'
import { compileCacheEnvironment } from '../compile-cache.ts'

const projectRoot = join(import.meta.dirname, '../..')
const repositoryName = 'acme/canary'

const temporaryDirectory = await mkdtemp(join(tmpdir(), 'canary-test-'))
const mockGitHub = await startMockGitHub({ directory: join(temporaryDirectory, 'github') })
mockGitHub.createUser('admin')
mockGitHub.createOrganization('acme', ['admin'])
await mockGitHub.createRepository('acme', 'canary')
await mockGitHub.createRepository('acme', 'used', { files: { 'catalog.yaml': 'x\n' } })
await writeFile(join(temporaryDirectory, 'token'), `${mockGitHub.tokenFor('admin')}\n`, { mode: 0o600 })
afterAll(async () => {
  await mockGitHub.stop()
  await rm(temporaryDirectory, { recursive: true, force: true, maxRetries: 10 })
})
/** Expects that a run left only what existed before it. */
afterEach(() => {
  mockGitHub.clearFaults()
  mockGitHub.delayChecks(0)
  const repo = mockGitHub.repository(repositoryName)
  expect([...repo.knownRefs.keys()]).toEqual(['refs/heads/main'])
  expect(repo.rulesets.size).toBe(0)
  expect([...repo.pulls.values()].filter(({ state }) => state === 'open')).toEqual([])
})

interface CanaryResult {
  readonly code: number | null
  readonly stdout: string
  readonly stderr: string
}

function runCanary(args: readonly string[], interruptAt?: RegExp): Promise<CanaryResult> {
  const child = spawn(
    process.execPath,
    ['--no-warnings', 'scripts/canary.ts', '--token-file', join(temporaryDirectory, 'token'), ...args],
    {
      cwd: projectRoot,
      env: { PATH: process.env['PATH'], GITHUB_API_URL: mockGitHub.url, ...compileCacheEnvironment },
    },
  )
  const out = { stdout: '', stderr: '' }
  child.stdout.on('data', (chunk: Buffer) => (out.stdout += chunk.toString()))
  child.stderr.on('data', (chunk: Buffer) => {
    out.stderr += chunk.toString()
    if (interruptAt?.test(out.stderr) === true) child.kill('SIGINT')
  })
  return new Promise((resolve) => child.once('close', (code) => resolve({ code, ...out })))
}

const parseCanaryDifferences = ({ stdout }: CanaryResult): string[] =>
  stdout.split('\n').flatMap((line) => /^\| (.*?) \| .* \| NO \|$/.exec(line)?.[1] ?? [])
const canaryArguments = ['--repository', repositoryName, '--settle-seconds', '0.2']

describe('the canary', () => {
  test('finds that the sandbox behaves as the App expects of GitHub', async () => {
    const ended = await runCanary(canaryArguments)
    expect(parseCanaryDifferences(ended)).toEqual([])
    expect(ended).toMatchObject({ code: 0, stderr: expect.stringContaining('Cleaned up.') })
    expect(ended.stdout.split('\n').filter((line) => line.endsWith('| yes |'))).toHaveLength(
      canaryProbes.length,
    )
  })

  test('finds a GitHub that ignores checks on a merge, and accepts what it must reject', async () => {
    mockGitHub.delayChecks(3_600_000)
    // The first ruleset of the run never takes effect.
    mockGitHub.fail('POST /repos/{owner}/{repo}/rulesets', { status: 201, body: { id: 1 } })
    // No pause helps here, so every rejected attempt counts at once.
    const ended = await runCanary([...canaryArguments, '--settle-seconds', '0'])
    expect(ended.code).toBe(1)
    expect(parseCanaryDifferences(ended)).toEqual([
      'GitHub rejects a pushed merge if only the head has checks and is behind the base',
      'GitHub accepts a pushed merge commit that has checks, even if the head has no checks and is behind the base',
      'GitHub accepts a pushed merge commit that has checks, even if branches must be up to date',
      'GitHub accepts a pushed merge commit without checks if the head has checks and is up to date',
      'The merge API accepts a head that has checks, even if the head is behind the base',
    ])
  })

  test('cleans up after an interrupt', async () => {
    // The sixth rule is the first that needs a ruleset.
    const ended = await runCanary(canaryArguments, /^6\//m)
    expect(ended).toMatchObject({ code: 130, stderr: expect.stringContaining('Cleaned up.') })
  })

  test('rejects a repository that is in use, and explains what to do', async () => {
    const ended = await runCanary(['--repository', 'acme/used'])
    expect(ended).toMatchObject({ code: 2, stderr: expect.stringContaining('the file catalog.yaml') })
    expect(ended.stderr).toContain('--yes')
    expect(mockGitHub.repository('acme/used').knownRefs.size).toBe(1)
  })

  test('never shows a token', async () => {
    const ended = await runCanary(['--repository', 'acme/absent'])
    expect(ended.code).toBe(2)
    expect(ended.stdout + ended.stderr).not.toContain('ghp_')
  })
})
