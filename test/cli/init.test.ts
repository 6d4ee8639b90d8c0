// `init` in a repository: what it detects, writes, and leaves unchanged; and `check` with default options.
import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, expect, jest, test } from '@jest/globals'
import { parse } from 'yaml'
import { runCheckCommand } from '../../src/cli/check.ts'
import { runInit, type InitCommandOptions } from '../../src/cli/init.ts'
import { parseConfig } from '../../src/config/config.ts'
import { createSelfRemovingDirectory } from '../temporary-directory.ts'
import { writeFiles } from '../write-files.ts'

const originalWorkingDirectory = process.cwd()
const temporaryDirectory = createSelfRemovingDirectory('init')
afterEach(() => process.chdir(originalWorkingDirectory))

function createGitRepository(name: string, files: Readonly<Record<string, string>>): string {
  const top = join(temporaryDirectory, name)
  writeFiles(top, files)
  runGit(top, 'init', '--quiet', '--initial-branch=main')
  process.chdir(top)
  return top
}

const runGit = (top: string, ...parameters: string[]) =>
  execFileSync('git', ['-C', top, '-c', 'user.name=a', '-c', 'user.email=a@b.c', ...parameters], {
    stdio: 'ignore',
  })

async function captureCommandOutput(run: () => Promise<void>): Promise<{ code: unknown; out: string }> {
  let out = ''
  const spy = jest.spyOn(process.stdout, 'write').mockImplementation(((text: string) => {
    out += text
    return true
  }) as never)
  const before = process.exitCode
  try {
    await run()
    return { code: process.exitCode, out }
  } finally {
    process.exitCode = before
    spy.mockRestore()
  }
}

const runInitCommand = (options: InitCommandOptions) =>
  captureCommandOutput(() => runInit(undefined, options))
const catalogYaml = 'schema: olm.package\nname: tern\ndefaultChannel: stable\n'

test('a known layout needs no configuration, and none is written', async () => {
  const top = createGitRepository('known', { 'catalogs/v4.20/tern/catalog.yaml': catalogYaml })
  const { code, out } = await runInitCommand({ write: true })
  expect(code).toBe(0)
  expect(out).toContain('Catalogs: catalogs/v4.20\n')
  expect(out).toContain('No configuration is required')
  expect(existsSync(join(top, '.github'))).toBe(false)
})

test('without a catalog, a configuration is shown, and --write creates it but overwrites none', async () => {
  const top = createGitRepository('unknown', { 'README.md': 'x' })
  const file = join(top, '.github', 'catalog-bot.yml')
  expect(await runInitCommand({})).toMatchObject({ code: 1, out: expect.stringContaining('- path: catalog') })
  expect(existsSync(file)).toBe(false)
  expect(await runInitCommand({ write: true })).toMatchObject({
    code: 1,
    out: expect.stringContaining('Wrote .github/'),
  })
  expect(parseConfig(readFileSync(file, 'utf8')).kind).toBe('config')
  writeFileSync(file, 'catalogs:\n  - path: other\n')
  await runInitCommand({ write: true })
  expect(readFileSync(file, 'utf8')).toContain('other')
})

test('the rulesets name the App and the default branch', async () => {
  createGitRepository('rulesets', { 'catalogs/v4.20/tern/catalog.yaml': catalogYaml })
  expect((await runInitCommand({})).out).toContain('catalog-bot init --app ID')
  const { out } = await runInitCommand({ app: 4711 })
  const [a, b] = [...out.matchAll(/^\{\n.*?^\}$/gms)].map(
    ([text]) => JSON.parse(text) as Record<string, unknown>,
  )
  expect(a).toMatchObject({ bypass_actors: [{ actor_id: 4711 }], rules: [{ type: 'update' }] })
  expect(JSON.stringify(b)).toContain('"integration_id":4711')
  expect(b).toMatchObject({ bypass_actors: [], conditions: { ref_name: { include: ['refs/heads/main'] } } })
})

test('the workflow is read-only, pins the checkout, and uses the given action', async () => {
  const { out } = await runInitCommand({ action: true, uses: 'coast/catalog-bot@v0.1.0' })
  const { permissions, jobs } = parse(out) as {
    permissions: unknown
    jobs: { validate: { steps: { uses: string }[] } }
  }
  expect(permissions).toEqual({ contents: 'read' })
  const [checkout, action] = jobs.validate.steps
  expect(checkout?.uses).toMatch(/^actions\/checkout@[0-9a-f]{40}$/)
  expect(action?.uses).toBe('coast/catalog-bot@v0.1.0')
})

test.each([
  ['no action', {}, '--uses OWNER/NAME@REF'],
  ['an action without a ref', { uses: 'coast/catalog-bot' }, 'OWNER/NAME@REF'],
])('a checkout prints no workflow with %s, because none is published', async (_what, options, message) => {
  await expect(runInitCommand({ action: true, ...options })).rejects.toThrow(message)
})

test('check without options compares with the default branch, as the user in the git config', async () => {
  const top = createGitRepository('defaults', {
    'catalogs/v4.20/tern/catalog.yaml': catalogYaml,
    'operators/tern/ci.yaml': 'reviewers: [terry]\n',
  })
  runGit(top, 'add', '.')
  runGit(top, 'commit', '--quiet', '--message', 'base')
  runGit(top, 'remote', 'add', 'origin', '/nowhere')
  runGit(top, 'update-ref', 'refs/remotes/origin/main', 'HEAD')
  runGit(top, 'config', 'github.user', 'terry')
  runGit(top, 'checkout', '--quiet', '-b', 'work')
  writeFileSync(join(top, 'catalogs/v4.20/tern/catalog.yaml'), `${catalogYaml}description: a bird\n`)
  runGit(top, 'commit', '--quiet', '--all', '--message', 'work')
  process.chdir(join(top, 'catalogs'))
  const { code, out } = await captureCommandOutput(() =>
    runCheckCommand({ repo: '.', head: 'HEAD', offline: true, output: 'json' }),
  )
  expect(code).toBe(1)
  const { verdict, change } = JSON.parse(out) as { verdict: string; change: { paths: { path: string }[] } }
  expect(change.paths.map(({ path }) => path)).toEqual(['catalogs/v4.20/tern/catalog.yaml'])
  expect(verdict).toBe('blocked')
})
