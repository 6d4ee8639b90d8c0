// Runs the `run` steps of action.yml as a GitHub Actions runner does, with their variables and a prepared event. The
// package that it installs runs the built command.
import { beforeAll, describe, expect, test } from '@jest/globals'
import { execFileSync, spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { parse } from 'yaml'
import { buildCatalogBotCli } from '../../../bench/built-command.ts'
import { compileCacheDirectory } from '../../compile-cache.ts'
import { createSelfRemovingDirectory } from '../../temporary-directory.ts'
import { writeFiles } from '../../write-files.ts'

const projectRoot = join(import.meta.dirname, '../../..')

interface ActionDefinition {
  readonly inputs: Readonly<Record<string, { readonly default: string }>>
  readonly outputs: Readonly<Record<string, { readonly value: string }>>
  readonly runs: {
    readonly steps: readonly {
      readonly uses?: string
      readonly run?: string
      readonly shell?: string
      readonly env?: Readonly<Record<string, string>>
      readonly 'working-directory'?: string
    }[]
  }
}
/** As GitHub provides it: the action's repository. */
const actionPath = projectRoot
const actionDefinition = parse(readFileSync(join(projectRoot, 'action.yml'), 'utf8')) as ActionDefinition

const temporaryDirectory = createSelfRemovingDirectory('action')
let cliPackagePath: string
beforeAll(async () => {
  cliPackagePath = packCliPackage((await buildCatalogBotCli()).at(-1))
  mkdirSync(join(temporaryDirectory, 'catalog'))
  runGit('catalog', 'init', '--quiet', '--initial-branch=main')
  writeRepositoryFiles({
    'catalogs/v4.20/tern/catalog.yaml': createCatalogYaml('1.0.0'),
    'operators/tern/ci.yaml': 'reviewers: [terry]\n',
    '.github/workflows/catalog.yml': 'on: pull_request\n',
  })
  commitAllFiles('base')
})

/** Packs `@catalog-bot/cli` with the name and command that npm would install. */
function packCliPackage(program?: string): string {
  const folder = join(temporaryDirectory, 'package')
  mkdirSync(folder)
  const bin = { 'catalog-bot': 'run.cjs' }
  writeFileSync(
    join(folder, 'package.json'),
    JSON.stringify({ name: '@catalog-bot/cli', version: '0.1.0', bin }),
  )
  writeFileSync(join(folder, 'run.cjs'), `#!/usr/bin/env node\nrequire(${JSON.stringify(program)})\n`)
  const archive = join(temporaryDirectory, 'package.tgz')
  execFileSync('tar', ['-czf', archive, '-C', temporaryDirectory, 'package'])
  return archive
}

/** A catalog with these versions of one package, each replacing the previous one. */
function createCatalogYaml(...versions: readonly string[]): string {
  const entries = versions.map((version, index) => ({
    name: `tern.v${version}`,
    ...(index > 0 && { replaces: `tern.v${versions[index - 1]}` }),
  }))
  return [
    { schema: 'olm.package', name: 'tern', defaultChannel: 'stable' },
    { schema: 'olm.channel', package: 'tern', name: 'stable', entries },
    ...versions.map((version) => ({
      schema: 'olm.bundle',
      package: 'tern',
      name: `tern.v${version}`,
      image: `quay.example/tern@sha256:${'0'.repeat(64)}`,
      properties: [{ type: 'olm.package', value: { packageName: 'tern', version } }],
    })),
  ]
    .map((blob) => `---\n${JSON.stringify(blob)}\n`)
    .join('')
}

const gitIdentity = ['-c', 'user.name=Terry', '-c', 'user.email=terry@example.com']

function runGit(where: string, ...args: readonly string[]): string {
  return execFileSync('git', ['-C', join(temporaryDirectory, where), ...gitIdentity, ...args], {
    encoding: 'utf8',
  }).trim()
}

const writeRepositoryFiles = (files: Readonly<Record<string, string>>) =>
  writeFiles(join(temporaryDirectory, 'catalog'), files)

function commitAllFiles(message: string): string {
  runGit('catalog', 'add', '--all')
  runGit('catalog', 'commit', '--quiet', '--message', message)
  return runGit('catalog', 'rev-parse', 'HEAD')
}

/** Creates the merge ref of a pull request that branched off before main moved on, and returns the head commit. */
function createPullMergeRef(number: number, files: Readonly<Record<string, string>>, title = 'work'): string {
  runGit('catalog', 'checkout', '--quiet', '--detach', 'main')
  writeRepositoryFiles(files)
  const head = commitAllFiles(title)
  runGit('catalog', 'checkout', '--quiet', 'main')
  writeRepositoryFiles({ 'README.md': `${number}\n` })
  commitAllFiles('main moves on')
  runGit('catalog', 'checkout', '--quiet', '--detach', 'main')
  runGit('catalog', 'merge', '--quiet', '--no-ff', '--message', title, head)
  runGit('catalog', 'update-ref', `refs/pull/${number}/merge`, 'HEAD')
  runGit('catalog', 'checkout', '--quiet', 'main')
  return head
}

/** Checks out the merge ref as actions/checkout does. */
function checkOutPull(number: number, depth: number): string {
  const checkoutDirectory = join(temporaryDirectory, `work-${number}`)
  rmSync(checkoutDirectory, { recursive: true, force: true })
  mkdirSync(checkoutDirectory)
  runGit(`work-${number}`, 'init', '--quiet')
  runGit(`work-${number}`, 'remote', 'add', 'origin', `file://${join(temporaryDirectory, 'catalog')}`)
  const cut = depth === 0 ? [] : [`--depth=${depth}`]
  runGit(`work-${number}`, 'fetch', '--quiet', '--no-tags', ...cut, 'origin', `refs/pull/${number}/merge`)
  runGit(`work-${number}`, 'checkout', '--quiet', '--detach', 'FETCH_HEAD')
  return checkoutDirectory
}

interface ActionRunResult {
  readonly code: number | null
  readonly log: string
  readonly summary: string
  readonly outputs: Readonly<Record<string, string>>
  readonly sarif: { readonly runs: readonly { readonly results: readonly unknown[] }[] } | undefined
}

/** Runs the steps of action.yml with these inputs on this event. */
function runAction(
  event: { readonly name: string; readonly payload: unknown; readonly workspace: string },
  inputs: Readonly<Record<string, string>> = {},
  action = actionPath,
): ActionRunResult {
  const temporary = mkdtempSync(join(temporaryDirectory, 'runner-'))
  const files = { GITHUB_OUTPUT: 'output', GITHUB_STEP_SUMMARY: 'summary', GITHUB_EVENT_PATH: 'event.json' }
  const runner = {
    PATH: process.env['PATH'],
    HOME: temporary,
    RUNNER_TEMP: temporary,
    CATALOG_BOT_CACHE: compileCacheDirectory,
    GITHUB_EVENT_NAME: event.name,
    GITHUB_REPOSITORY: 'coast/operators',
    GITHUB_SERVER_URL: 'https://github.com',
    GITHUB_WORKSPACE: event.workspace,
    GITHUB_ACTION_PATH: action,
    ...Object.fromEntries(Object.entries(files).map(([name, file]) => [name, join(temporary, file)])),
  }
  writeFileSync(join(temporary, 'event.json'), JSON.stringify(event.payload))
  for (const file of ['output', 'summary']) writeFileSync(join(temporary, file), '')
  const chosen: Record<string, string> = { package: cliPackagePath, offline: 'true', ...inputs }
  const filled = (text: string) =>
    text.replace(/\$\{\{ (?<what>[\w.-]+) \}\}/g, (_all, what: string) => {
      if (what === 'runner.temp') return temporary
      if (what === 'github.workspace') return event.workspace
      const name = /^inputs\.(?<name>[\w-]+)$/.exec(what)?.groups?.['name'] ?? ''
      return chosen[name] ?? actionDefinition.inputs[name]?.default ?? `no ${what}`
    })
  let log = ''
  let code: number | null = 0
  for (const step of actionDefinition.runs.steps) {
    if (step.run === undefined || code !== 0) continue
    const installed = join(temporary, 'catalog-bot')
    // Runs after the first use what it installed.
    if (step.run.includes('npm ') && installedPackageDirectory !== undefined && chosen['package'] !== '') {
      symlinkSync(installedPackageDirectory, installed)
      continue
    }
    const script = join(temporary, 'step.sh')
    writeFileSync(script, step.run)
    const env = Object.fromEntries(
      Object.entries(step.env ?? {}).map(([name, value]) => [name, filled(value)]),
    )
    const ran = spawnSync('bash', ['--noprofile', '--norc', '-eo', 'pipefail', script], {
      cwd: filled(step['working-directory'] ?? '.'),
      env: { ...runner, ...env },
      encoding: 'utf8',
    })
    log += ran.stdout + ran.stderr
    code = ran.status
    if (existsSync(installed)) installedPackageDirectory ??= installed
  }
  const read = (file: string) => readFileSync(join(temporary, file), 'utf8')
  const sarif = join(temporary, 'catalog-bot.sarif')
  return {
    code,
    log,
    summary: read('summary'),
    outputs: Object.fromEntries(
      read('output')
        .split('\n')
        .filter((line) => line !== '')
        .map((line): [string, string] => [
          line.slice(0, line.indexOf('=')),
          line.slice(line.indexOf('=') + 1),
        ]),
    ),
    sarif: existsSync(sarif)
      ? (JSON.parse(readFileSync(sarif, 'utf8')) as ActionRunResult['sarif'])
      : undefined,
  }
}

let installedPackageDirectory: string | undefined

function createPullRequestEvent(
  number: number,
  head: string,
  login = 'terry',
): { name: string; payload: unknown } {
  const fork = login === 'terry' ? 'coast/operators' : `${login}/operators`
  return {
    name: 'pull_request',
    payload: {
      pull_request: {
        number,
        title: 'x\n::error::x',
        user: { login, id: 7 },
        head: { sha: head, ref: '$(touch hacked)', repo: { full_name: fork } },
        base: { ref: 'main' },
      },
    },
  }
}

describe('action.yml', () => {
  test('without a package runs the catalog-bot in its own repository', () => {
    const bundle = mkdtempSync(join(temporaryDirectory, 'bundle-'))
    const program = join(bundle, 'bin', 'catalog-bot.cjs')
    mkdirSync(dirname(program))
    writeFileSync(program, '#!/bin/sh\necho "its own: $*"\n', { mode: 0o755 })
    const event = { name: 'push', payload: {}, workspace: join(temporaryDirectory, 'catalog') }
    const { code, log } = runAction(event, { package: '' }, bundle)
    expect([code, log]).toEqual([
      0,
      expect.stringMatching(/^its own: action --sarif \S+ --fail-on errors --offline$/m),
    ])
  })
  test('pins its actions, names no package that could belong to others, and interpolates no input into a script', () => {
    expect(actionDefinition.inputs['package']?.default).toBe('')
    for (const { uses, run, shell } of actionDefinition.runs.steps) {
      if (uses !== undefined) expect(uses).toMatch(/@[0-9a-f]{40}$/)
      if (run !== undefined)
        expect({ shell, script: run }).toEqual({ shell: 'bash', script: expect.not.stringContaining('${{') })
    }
    expect(JSON.stringify(actionDefinition)).not.toMatch(/secrets\.|github\.token|GITHUB_TOKEN/)
  })

  test("checks a fork's pull request from a checkout two commits deep", () => {
    const head = createPullMergeRef(1, {
      'catalogs/v4.20/tern/catalog.yaml': createCatalogYaml('1.0.0').replace('"stable"}', '"none"}'),
    })
    const ran = runAction({ ...createPullRequestEvent(1, head, 'mallory'), workspace: checkOutPull(1, 2) })
    expect(ran.code).toBe(1)
    expect(ran.outputs).toMatchObject({
      verdict: 'blocked',
      sarif: expect.stringContaining('catalog-bot.sarif'),
    })
    expect(Number(ran.outputs['errors'])).toBeGreaterThan(0)
    expect(ran.log).toMatch(/^::error file=catalogs\/v4\.20\/tern\/catalog\.yaml,line=\d+/m)
    expect(ran.summary).toMatch(/^### /)
    expect(ran.sarif?.runs[0]?.results.length).toBeGreaterThan(0)
    expect(existsSync(join(temporaryDirectory, 'work-1', 'hacked'))).toBe(false)
  })

  test.each([
    ['full history', 8, 0],
    ["GitHub's merge commit and its parents", 2, 2],
  ])(
    'a valid change by the owner, with %s, exits with 0, even if the verdict is unknown',
    (_what, pull, depth) => {
      const head = createPullMergeRef(pull, {
        'catalogs/v4.20/tern/catalog.yaml': createCatalogYaml('1.0.0', '1.1.0'),
      })
      const ran = runAction({ ...createPullRequestEvent(pull, head), workspace: checkOutPull(pull, depth) })
      expect(ran).toMatchObject({ code: 0, outputs: { errors: '0' } })
      // The new image cannot be checked offline.
      expect(ran.outputs['verdict']).toBe('unknown')
      expect(ran.summary).toContain('Run the checks again later.')
      expect(ran.summary).not.toContain('automatically')
    },
  )

  test('workflow commands in names are not executed', () => {
    const bad = 'catalogs/v4.20/tern/x\n::add-mask::e\n##[set-output name=verdict]merge.yaml'
    const head = createPullMergeRef(
      3,
      { [bad]: '{"schema": "olm.package\\n::stop-commands::x"' },
      'x\n\n::error::x',
    )
    const ran = runAction({ ...createPullRequestEvent(3, head, 'mallory'), workspace: checkOutPull(3, 2) })
    const foreign = ran.log
      .split(/\r?\n/)
      .filter((line) => /^\s*::/.test(line) && !/^::(?:error|warning|notice) /.test(line))
    expect(foreign).toEqual([])
    expect(ran.log).not.toContain('##[')
    expect(Object.keys(ran.outputs).sort()).toEqual(['errors', 'sarif', 'verdict', 'warnings'])
  })

  test('rejects pull_request_target and a checkout that is too shallow, with a message', () => {
    const head = createPullMergeRef(4, { 'NOTES.md': 'x\n' })
    const { payload } = createPullRequestEvent(4, head)
    expect(runAction({ name: 'pull_request_target', payload, workspace: checkOutPull(4, 2) })).toMatchObject({
      code: 2,
      outputs: {},
      log: expect.stringContaining('pull_request_target'),
    })
    const shallow = runAction({ ...createPullRequestEvent(4, head), workspace: checkOutPull(4, 1) })
    expect(shallow).toMatchObject({ code: 2, outputs: {}, log: expect.stringContaining('fetch-depth: 2') })
  })

  test('validates every catalog if the event has no pull request', () => {
    const ran = runAction({ name: 'push', payload: {}, workspace: join(temporaryDirectory, 'catalog') })
    expect(ran).toMatchObject({
      code: 0,
      outputs: { verdict: 'passed' },
      summary: expect.stringContaining('1 catalog: passed'),
    })
  })
})
