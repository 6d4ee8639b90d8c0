// `check` on a pull request that exceeds its budget reports a verdict with the number instead of failing.
import { execFileSync } from 'node:child_process'
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, expect, test } from '@jest/globals'
import { evaluateLocalPullRequest } from '../../src/cli/local-pull.ts'
import { runCatalogBot } from './command.ts'
import { createSelfRemovingDirectory } from '../temporary-directory.ts'
import { writeFiles } from '../write-files.ts'

const repositoryDirectory = createSelfRemovingDirectory('too-large')
beforeAll(() => {
  const git = (...args: string[]) =>
    execFileSync('git', ['-c', 'user.name=a', '-c', 'user.email=a@example.invalid', ...args], {
      cwd: repositoryDirectory,
      stdio: 'ignore',
    })
  const write = (path: string, text: string) => {
    writeFiles(repositoryDirectory, { [path]: text })
    git('add', path)
    git('commit', '-q', '-m', path)
  }
  git('init', '-q', '-b', 'main')
  write('catalogs/v4.20/cat/catalog.yaml', 'schema: olm.package\nname: cat\ndefaultChannel: stable\n')
  git('checkout', '-q', '-b', 'update')
  const reviewers = Array.from({ length: 600 }, (_, at) => `  - somebody-${at}\n`).join('')
  write('operators/cat/ci.yaml', `reviewers:\n${reviewers}`)
  git('checkout', '-q', '-b', 'channel', 'main')
  write('catalogs/v4.20/cat/catalog.yaml', 'schema: olm.package\nname: cat\ndefaultChannel: fast\n')
})

const runCheckCommand = (...more: string[]) =>
  runCatalogBot(
    'check',
    '--repo',
    repositoryDirectory,
    '--base',
    'main',
    '--head',
    'update',
    '--author',
    'mallory',
    ...more,
  )

test('a pull request that is too large is blocked, and the reason has the number', async () => {
  const { code, out, err } = await runCheckCommand()
  expect({ code, err }).toEqual({ code: 1, err: '' })
  expect(out).toMatch(
    /^blocked: this pull request is too large to check: the change has \d+ GitHub users to look up/,
  )
})

test('the JSON output has the same verdict and the reason code', async () => {
  const { code, out } = await runCheckCommand('-o', 'json')
  expect(code).toBe(1)
  expect(JSON.parse(out)).toMatchObject({
    verdict: 'blocked',
    reasons: [{ code: 'too-large' }],
    findings: [],
  })
})

test('a later check uses the cached facts of each version of a catalog file, and reaches the same verdict', async () => {
  const cacheDirectory = join(repositoryDirectory, '.git', 'cache')
  process.env['CATALOG_BOT_CACHE'] = cacheDirectory
  const pull = { repo: repositoryDirectory, base: 'main', head: 'channel', author: 'cat', offline: true }
  const first = await evaluateLocalPullRequest(pull)
  const listed = readdirSync(cacheDirectory, { recursive: true, encoding: 'utf8' })
  expect(listed.filter((path) => path.endsWith('.json'))).toHaveLength(2)
  const { verdict } = await evaluateLocalPullRequest(pull)
  expect(verdict.reasons).toEqual(first.verdict.reasons)
  expect(verdict.outcomes).toEqual(first.verdict.outcomes)
})
