// The table of branch rules without a running bot: how the sandbox's GitHub responds to a manual merge commit with our
// successful checks, and to merging by API; which route the bot would choose from the rules that it reads; and that its
// merge takes this route, or waits until the obstacle is fixed.
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { mkdtemp } from 'node:fs/promises'
import { join } from 'node:path'
import { Octokit } from '@octokit/rest'
import pino from 'pino'
import { chooseMergeStrategy } from '../../src/policy/choose-merge-strategy.ts'
import { GitHubApp } from '../../src/adapters/github/github-app.ts'
import type { PlannedMerge } from '../../src/merge/merge-types.ts'
import { readBranchRules } from '../../src/adapters/github/read-branch-rules.ts'
import { isAncestor } from '../../sandbox/github/git/git-store.ts'
import type { MergeMethod } from '../../sandbox/github/github-data.ts'
import { extractErrorStatusAndMessage } from '../sandbox/github/branch-rules/merge-rules-fixture.ts'
import {
  createPassingCheckRuns,
  createMergeTestHarness,
  mergePull,
  type MergeTestHarness,
} from '../merge/merge-harness.ts'
import { signJwt, runGit } from '../sandbox/github/github-fixture.ts'
import { readBranchRuleSettings } from '../shared-data.ts'
import { expectMergedAsValidated } from './merge-table/merged-as-validated.ts'
import {
  botCheckNames,
  type GitHubMergeVerdict,
  type MergeTableRow,
  type ObservedMergeMethod,
} from './merge-table/table-row.ts'
import { singleBranchRuleRows } from './merge-table/single-rule-rows.ts'
import { combinedRuleRows } from './merge-table/combined-rule-rows.ts'
import {
  createMergeTableFixture,
  type PreparedMergeTableRow,
  type MergeTableFixture,
} from './merge-table/table-fixture.ts'

const mergeTableRows = [...singleBranchRuleRows, ...combinedRuleRows]

describe('what GitHub accepts and what the bot chooses', () => {
  let fixture: MergeTableFixture
  let octokit: Octokit
  let token: string
  let app: GitHubApp
  let count = 0

  beforeAll(async () => {
    fixture = await createMergeTableFixture()
    const { environment, installation } = fixture
    const asApp = createClient(signJwt({ iss: fixture.app.id }, environment['PRIVATE_KEY'] ?? ''))
    const { data } = await asApp.rest.apps.createInstallationAccessToken({ installation_id: installation.id })
    token = data.token
    octokit = createClient(token)
    app = new GitHubApp({
      appId: fixture.app.id,
      privateKey: environment['PRIVATE_KEY'] ?? '',
      webhookSecret: environment['WEBHOOK_SECRET'] ?? '',
      apiUrl: fixture.github.url,
      throttle: false,
      clock,
      log: pino({ level: 'silent' }),
    })
  })
  afterAll(async () => fixture.stop())

  const createClient = (auth: string): Octokit => {
    const quiet = () => undefined
    const log = { debug: quiet, info: quiet, warn: quiet, error: quiet }
    return new Octokit({ auth, baseUrl: fixture.github.url, log })
  }
  /** Without waiting: what a merge waits for already exists or never comes. */
  let passed = 0
  const clock = {
    now: () => Date.now() + passed,
    sleep: async (milliseconds: number) => void (passed += milliseconds),
  }
  const name = ({ full }: PreparedMergeTableRow) => ({
    owner: full.split('/')[0] ?? '',
    repo: full.split('/')[1] ?? '',
  })

  async function stageRow(row: MergeTableRow): Promise<PreparedMergeTableRow> {
    const it = await fixture.openRow(row, `row-${(count += 1)}`)
    await passBotChecks(it, it.pull.headSha)
    return it
  }
  async function passBotChecks(it: PreparedMergeTableRow, sha: string): Promise<void> {
    for (const check of botCheckNames)
      await octokit.rest.checks.create({ ...name(it), name: check, head_sha: sha, conclusion: 'success' })
  }

  /** Pushes a merge commit with our checks. Resolves with git's message, or `accepted`. */
  async function push(it: PreparedMergeTableRow): Promise<string> {
    const { path } = it.pull.repo
    const git = (...args: string[]) => runGit(path, undefined, ...args)
    const [tree = ''] = (await git('merge-tree', '--write-tree', it.base, it.pull.headSha)).split('\n')
    const merge = await git('commit-tree', tree, '-p', it.base, '-p', it.pull.headSha, '-m', 'Merge')
    await passBotChecks(it, merge)
    const url = it.github.url.replace('//', `//x-access-token:${token}@`)
    return git('push', `${url}/${it.full}.git`, `${merge}:refs/heads/main`).then(
      () => 'accepted',
      (error: Error) => error.message.replaceAll(/\nremote: ?/g, '\n'),
    )
  }

  async function mergeByApi(it: PreparedMergeTableRow, merge_method: MergeMethod): Promise<string> {
    const { number, headSha } = it.pull
    return octokit.rest.pulls.merge({ ...name(it), pull_number: number, merge_method, sha: headSha }).then(
      () => 'accepted',
      (error: unknown) => extractErrorStatusAndMessage(error).message,
    )
  }

  /** The route that the bot would choose, and what it would report about the branch. */
  async function chooseMerge(
    it: PreparedMergeTableRow,
  ): Promise<{ way: ObservedMergeMethod | undefined; says: string; planned: PlannedMerge }> {
    const [owner = '', repo = ''] = it.full.split('/')
    const app = fixture.app.id
    const rules = await readBranchRules(octokit, { owner, name: repo }, 'main', { app, isApp: true })
    // An App without the administration permission can't read classic protection, and must report that.
    const unread = expect.stringMatching(/classic branch protection/)
    expect(rules.unread).toEqual(it.pull.repo.protections.size > 0 ? [unread] : [])
    const plan = chooseMergeStrategy({
      rules,
      setting: 'auto',
      permissions: fixture.installation.permissions,
      app,
      ownChecks: botCheckNames,
      pull: {
        containsBase: await isAncestor(it.pull.repo.path, it.base, it.pull.headSha),
        editsWorkflows: Object.keys(it.changes).some((path) => path.startsWith('.github/workflows/')),
      },
    })
    const says = [plan.because, ...plan.missing, ...plan.conditions].join('\n')
    const { method } = plan
    const planned = { plan, rules }
    if (method === undefined) return { way: undefined, says, planned }
    if (method.kind === 'queue') return { way: 'queue', says, planned }
    if (method.kind === 'push') return { way: method.signed ? 'signed' : 'push', says, planned }
    return { way: method.method === 'merge' ? 'merge' : 'linear', says, planned }
  }

  async function openTools({ pull }: PreparedMergeTableRow): Promise<MergeTestHarness> {
    const directory = await mkdtemp(join(fixture.directory, 'mirror-'))
    const { github, installation } = fixture
    const checks = createPassingCheckRuns(botCheckNames)
    const about = { github, app, installation: installation.id, pull }
    return createMergeTestHarness({ ...about, directory, clock, checks })
  }

  async function mergeAsBot({ options, evaluate }: MergeTestHarness, planned: PlannedMerge): Promise<void> {
    const { evaluated, permit } = await evaluate()
    // A rejection needs no message here, because the tests check that nothing is merged.
    await mergePull(evaluated, permit, { ...options, plan: async () => planned })
  }

  /** Merges what the bot would merge, by the route that it would choose. A row that waits is merged after its fix. */
  async function expectMergedInTheEnd(it: PreparedMergeTableRow, planned: PlannedMerge): Promise<void> {
    const tools = await openTools(it)
    try {
      const { bot } = it.row
      const ends = 'ends' in bot ? [bot] : [...bot]
      const merged = ends.find((end) => end.ends === 'merged')
      const waits = ends.find((end) => end.ends === 'waits')
      await mergeAsBot(tools, planned)
      if (it.pull.merged !== null && merged !== undefined) return await expectMergedAsValidated(it, merged)
      expect(it.pull).toMatchObject({ state: 'open', merged: null })
      expect(waits).toBeDefined()
      if (waits?.fix === undefined || waits.then === undefined) return
      await waits.fix(it)
      await passBotChecks(it, it.pull.headSha)
      await mergeAsBot(tools, (await chooseMerge(it)).planned)
      await expectMergedAsValidated(it, waits.then)
    } finally {
      await tools.mirror.close()
    }
  }

  function expectChoice(row: MergeTableRow, { way, says }: Awaited<ReturnType<typeof chooseMerge>>): void {
    const ends = 'ends' in row.bot ? [row.bot] : [...row.bot]
    const merged = ends.find((end) => end.ends === 'merged')
    if (merged !== undefined && way !== undefined && merged.by.includes(way)) return
    const waits = ends.find((end) => end.ends === 'waits')
    if (waits === undefined) expect({ way, says }).toEqual({ way: merged?.by.join(' or '), says })
    // A pull request that waits for people still has a route. What it waits for is reported as a condition.
    else for (const part of waits.textPatterns) expect(says).toMatch(part)
  }

  const matchVerdict = (answer: GitHubMergeVerdict) =>
    answer === 'accepted' ? 'accepted' : expect.stringContaining(answer)

  test.each(mergeTableRows.map((row) => [row.name, row] as const))('%s', async (_, row) => {
    type MergeAttempt = [GitHubMergeVerdict, (it: PreparedMergeTableRow) => Promise<string>]
    const byApi = Object.entries(row.api ?? {}).map(([method, answer]): MergeAttempt => [
      answer,
      (it) => mergeByApi(it, method as MergeMethod),
    ])
    const tries: MergeAttempt[] = [[row.push, push], ...byApi]
    const it = await stageRow(row)
    const expected = await chooseMerge(it)
    expectChoice(row, expected)
    for (const [answer, attempt] of tries) {
      // A rejected attempt changes nothing.
      const tried = answer === 'accepted' ? await stageRow(row) : it
      expect(await attempt(tried)).toEqual(matchVerdict(answer))
      expect(tried.pull.merged !== null).toBe(answer === 'accepted')
    }
    // A queue waits for our checks on its group, and users run CI on temporary branches: see merge-table.test.ts.
    if (expected.way !== 'queue' && row.runsOnTemporary === undefined)
      await expectMergedInTheEnd(it, expected.planned)
  })

  test('every row of the reference has a test', () => {
    const settings = readBranchRuleSettings()
    if (settings === undefined) return
    expect([...new Set(singleBranchRuleRows.map(({ setting }) => setting))].sort()).toEqual(
      [...settings].sort(),
    )
  })
})
