// `doctor` against the sandbox: with a user's token, as the App, and with the two rulesets that it writes.
import { describe, expect, test } from '@jest/globals'
import { execFile } from 'node:child_process'
import { mkdtemp, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { RulesetRequest } from '../../sandbox/github/branch-rules/rule-types.ts'
import {
  acceptedPushResult,
  MergeRulesFixture,
  createPullRequestRule,
} from '../sandbox/github/branch-rules/merge-rules-fixture.ts'
import { privateKey } from '../sandbox/github/github-fixture.ts'
import { defaultConfig } from '../../src/config/config.ts'
import { saveAppCredentials } from '../../src/jobs/saved-credentials.ts'
import { getRequiredBotChecks } from '../../src/policy/decide.ts'
import { toPrefixedCheckNames } from '../../src/report/report-options.ts'
import {
  diagnoseEvents,
  diagnosePermissions,
  diagnoseWebhookDeliveries,
  formatDiagnosisFindings,
} from '../../src/cli/diagnosis.ts'
import { readAppManifest } from '../../sandbox/demo/bot-environment.ts'
import { generatePrivateKey } from '../../sandbox/github/github-admin.ts'
import { buildCatalogBotCli } from '../../bench/built-command.ts'
import { compileCacheDirectory } from '../compile-cache.ts'

const { githubFixture, openMergeCase, pushMerge, stage, setCheck, readTip } =
  await MergeRulesFixture.furnish()

const [program = '', ...programArguments] = await buildCatalogBotCli()
const botCheckNames = toPrefixedCheckNames(getRequiredBotChecks(defaultConfig))

interface DoctorResult {
  readonly code: number
  readonly out: string
  readonly err: string
}

/** Runs the command without our own environment variables. */
function runDoctor(args: readonly string[], environment: Record<string, string> = {}): Promise<DoctorResult> {
  const env = {
    PATH: process.env['PATH'],
    HOME: githubFixture.directory,
    GITHUB_API_URL: githubFixture.github.url,
    GITHUB_THROTTLE: 'off',
    CATALOG_BOT_CACHE: compileCacheDirectory,
    ...environment,
  }
  return new Promise((resolve) => {
    execFile(program, [...programArguments, 'doctor', ...args], { env }, (error, out, err) =>
      resolve({ code: error === null ? 0 : Number(error.code), out, err }),
    )
  })
}

const createMaintainerTokenEnvironment = () => ({ MY_TOKEN: githubFixture.github.tokenFor('maintainer') })
const createAppAndTokenCliArguments = () => [
  '--app',
  String(githubFixture.app.id),
  '--token-variable',
  'MY_TOKEN',
]

describe('doctor', () => {
  test('with a token reports how the App would merge, and writes rulesets that allow it', async () => {
    const it = await openMergeCase()
    const folder = await mkdtemp(join(githubFixture.directory, 'rulesets-'))
    const args = ['--repository', it.full, ...createAppAndTokenCliArguments(), '--rulesets', folder]
    const before = await runDoctor(args, createMaintainerTokenEnvironment())
    // Only the App can read its permissions, so whether it can merge is unknown.
    expect(before).toMatchObject({ code: 2, err: expect.stringContaining('ruleset-a.json') })
    expect(before.out).toContain('main: catalog-bot pushes the validated merge.')
    expect(before.out).toContain('Add ruleset A')

    const admin = githubFixture.client(githubFixture.github.tokenFor('maintainer'))
    for (const name of ['ruleset-a.json', 'ruleset-b.json']) {
      const request = JSON.parse(await readFile(join(folder, name), 'utf8')) as RulesetRequest
      await admin.request('POST /repos/{owner}/{repo}/rulesets', { ...it.name, ...request } as never)
    }
    expect(githubFixture.github.violations.splice(0)).toEqual([])

    const after = await runDoctor([...args, '--output', 'json'], createMaintainerTokenEnvironment())
    expect(after.code).toBe(2)
    expect(JSON.parse(after.out)).toMatchObject({
      rules: { reservedForUs: true, closedToUs: false },
      plan: { method: { kind: 'push', checksFirst: true, signed: false }, missing: [], faster: [] },
    })

    // Only the App can push, and only a commit that has its checks.
    expect((await pushMerge(it, githubFixture.github.tokenFor('maintainer'))).accepted).toBe(false)
    expect((await pushMerge(it)).accepted).toBe(false)
    expect((await stage(it)).accepted).toBe(true)
    for (const check of botCheckNames) await setCheck(it, it.mergeSha, check)
    expect(await pushMerge(it)).toMatchObject(acceptedPushResult)
    expect(await readTip(it)).toBe(it.mergeSha)
  })

  test('as the App reports missing permissions, and fails if the configured method cannot work', async () => {
    const it = await openMergeCase()
    githubFixture.github.addRules(it.full, [{ type: 'required_linear_history' }, createPullRequestRule()])
    const environment = { APP_ID: String(githubFixture.app.id), PRIVATE_KEY: privateKey, WEBHOOK_SECRET: 'a secret of the tests' } // prettier-ignore
    const args = ['--repository', it.full, '--branch', 'main']
    const free = await runDoctor(args, environment)
    for (const output of [
      'permissions: the App lacks merge_queues: read',
      'ok    deliveries: ',
      'ok    clock: ',
    ])
      expect(free.out).toContain(output)
    expect(free).toMatchObject({
      code: 0,
      out: expect.stringContaining('GitHub merges the pull request (squash)'),
    })
    const config = join(githubFixture.directory, 'catalog-bot.yml')
    await writeFile(config, 'merge:\n  method: push\n')
    // Like the server, it uses the credentials that the setup page stored.
    const data = join(githubFixture.directory, 'data')
    saveAppCredentials({ id: githubFixture.app.id, pem: privateKey, webhookSecret: 'a secret of the tests' }, data) // prettier-ignore
    const bound = await runDoctor([...args, '--config', config], { DATA_DIR: data })
    expect(bound.code).toBe(1)
    expect(bound.out).toContain('merge.method is push, but GitHub would reject the push')
  })

  const createAppEnvironment = (id: number, key = privateKey) => ({
    APP_ID: String(id),
    PRIVATE_KEY: key,
    WEBHOOK_SECRET: 'a secret of the tests',
  })

  test('as the App reports that it is not installed, or suspended, and how to fix that', async () => {
    const { github, app, installation } = githubFixture
    await github.createRepository('catalogs', 'elsewhere', { files: { 'README.md': '# x\n' } })
    expect(await runDoctor(['catalogs/elsewhere'], createAppEnvironment(app.id))).toMatchObject({
      code: 1,
      out: expect.stringMatching(
        /^WRONG installation: the App isn't installed on catalogs\/elsewhere; install it at http.*\/apps\/catalog-bot\/installations\/new/,
      ),
    })
    github.suspend(installation)
    try {
      const suspended = await runDoctor(
        ['catalogs/community', '--output', 'json'],
        createAppEnvironment(app.id),
      )
      expect(suspended.code).toBe(1)
      expect(JSON.parse(suspended.out)).toMatchObject({
        app: app.id,
        remarks: [{ about: 'installation', ok: false, text: expect.stringMatching(/suspended.*Unsuspend/) }],
      })
    } finally {
      github.suspend(installation, false)
    }
  })

  test('as the App reports rejected credentials', async () => {
    const { app } = githubFixture
    const ran = await runDoctor(['catalogs/community'], createAppEnvironment(app.id, generatePrivateKey()))
    expect(ran).toMatchObject({ code: 1, out: expect.stringContaining('WRONG credentials: GitHub rejects') })
  })

  test('as the App tells what the App must request from what an owner must accept', async () => {
    const { github } = githubFixture
    const { permissions, events } = readAppManifest()
    const { members, ...others } = permissions
    await github.createRepository('catalogs', 'partly', { files: { 'README.md': '# x\n' } })
    const key = generatePrivateKey()
    const { app, installations } = github.installApp(
      {
        slug: 'partly',
        privateKey: key,
        webhookSecret: 'a secret of the tests',
        permissions: others,
        events: events.filter((event) => event !== 'merge_group'),
      },
      ['catalogs/partly'],
    )
    const { checks, ...accepted } = others
    expect([members, checks]).toEqual(['read', 'write'])
    for (const installation of installations) github.setPermissions(installation, accepted)
    const { code, out } = await runDoctor(['catalogs/partly'], createAppEnvironment(app.id, key))
    expect(code).toBe(1)
    expect(out).toContain(
      "WRONG permissions: the App lacks members: read; update the permissions in the App's settings",
    )
    expect(out).toContain('the installation lacks checks: write; an owner of catalogs must accept')
    expect(out).toContain('-     events: the App does not receive merge_group')
  })

  test.each([
    ['no App', ['--repository', 'a/b'], { GITHUB_TOKEN: 'x' }, '--app'],
    ['no token', ['--repository', 'a/b', '--app', '1'], {}, 'GITHUB_TOKEN does not contain a token'],
    [
      'a nonexistent repository',
      ['--repository', 'a/b', '--app', '1', '--branch', 'm'],
      { GITHUB_TOKEN: 'x' },
      'a/b',
    ],
  ])('with %s exits with code 2', async (_what, args, environment, message) => {
    const ran = await runDoctor(args, environment)
    expect(ran).toMatchObject({ code: 2, out: '', err: expect.stringContaining(message) })
  })
})

describe('what doctor reports', () => {
  const manifest = readAppManifest()

  test.each(Object.entries(manifest.permissions))('names the missing permission %s: %s', (name, level) => {
    const granted: Record<string, string | undefined> = { ...manifest.permissions, [name]: undefined }
    const shown = formatDiagnosisFindings([diagnosePermissions(manifest.permissions, granted)])
    expect(shown).toContain(`permissions: the App lacks ${name}: ${level}; `)
    expect(shown).not.toMatch(/^ok/)
    if (level !== 'write') return
    // Less than is needed is missing as well.
    const less = diagnosePermissions(manifest.permissions, { ...manifest.permissions, [name]: 'read' })
    expect(less.text).toContain(`lacks ${name}: write; `)
  })

  test.each(manifest.events)('names the missing event %s', (event) => {
    const received = manifest.events.filter((one) => one !== event)
    expect(diagnoseEvents(manifest.events, received)).toMatchObject({
      ok: undefined,
      text: expect.stringContaining(`does not receive ${event}; select`),
    })
  })

  test('is content with every event, and explains an App without any', () => {
    expect(diagnoseEvents(manifest.events, manifest.events).ok).toBe(true)
    expect(diagnoseEvents(manifest.events, []).text).toContain('receives no events')
  })

  test.each([
    [401, 'WEBHOOK_SECRET'],
    [404, '/api/github/webhooks'],
    [0, 'public address'],
    [503, 'log'],
  ])('explains how to fix deliveries that failed with status %d', (status, fix) => {
    const finding = diagnoseWebhookDeliveries([{ status, at: 'then' }])
    expect(finding).toMatchObject({ ok: false, text: expect.stringMatching(new RegExp(`; .*${fix}`)) })
  })
})
