// The landing table without a running bot: what GitHub, as the sandbox plays it, says of a hand-made merge that has our
// checks green on itself, and of merging by API; which way the bot would choose from what it reads of the branch; and that its
// landing takes this way, or does not land before somebody has mended what is in the way.
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { mkdtemp, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { Octokit } from '@octokit/rest'
import pino from 'pino'
import { chooseLandingMethod } from '../../src/gate/choose-landing-method.ts'
import { openGitHubApp, type GitHubApp } from '../../src/github/github-app.ts'
import { landPull } from '../../src/landing/land-pull.ts'
import type { Planned } from '../../src/landing/landing-options.ts'
import { readBranchRules } from '../../src/github/read-branch-rules.ts'
import { isAncestor } from '../../sandbox/github/git/git-store.ts'
import type { MergeMethod } from '../../sandbox/github/world.ts'
import { said } from '../sandbox/github/branch-rules/landing-ground.ts'
import { greenChecks, openLandingTools, type LandingTools } from '../landing/landing-tools.ts'
import { jwt } from '../sandbox/github/sample-world.ts'
import { isMergedAsValidated } from './landing-table/merged-as-validated.ts'
import { ownChecks, type Answer, type Row, type Way } from './landing-table/row.ts'
import { rulesAlone } from './landing-table/rules-alone.ts'
import { rulesTogether } from './landing-table/rules-together.ts'
import { gitIn, openTableGround, type Played, type TableGround } from './landing-table/table-ground.ts'

const rows = [...rulesAlone, ...rulesTogether]

describe('what GitHub takes, and what the bot chooses', () => {
  let ground: TableGround
  let octokit: Octokit
  let token: string
  let app: GitHubApp
  let count = 0

  beforeAll(async () => {
    ground = await openTableGround()
    const { environment, installation } = ground
    const asApp = client(jwt({ iss: ground.app.id }, environment['PRIVATE_KEY'] ?? ''))
    const { data } = await asApp.rest.apps.createInstallationAccessToken({ installation_id: installation.id })
    token = data.token
    octokit = client(token)
    app = openGitHubApp({
      appId: ground.app.id,
      privateKey: environment['PRIVATE_KEY'] ?? '',
      webhookSecret: environment['WEBHOOK_SECRET'] ?? '',
      apiUrl: ground.github.url,
      throttle: false,
      clock,
      log: pino({ level: 'silent' }),
    })
  })
  afterAll(async () => ground.stop())

  const client = (auth: string): Octokit => {
    const quiet = () => undefined
    const log = { debug: quiet, info: quiet, warn: quiet, error: quiet }
    return new Octokit({ auth, baseUrl: ground.github.url, log })
  }
  /** Nobody waits here: what a landing waits for is there, or does not come. */
  let passed = 0
  const clock = {
    now: () => Date.now() + passed,
    sleep: async (milliseconds: number) => void (passed += milliseconds),
  }
  const name = ({ full }: Played) => ({ owner: full.split('/')[0] ?? '', repo: full.split('/')[1] ?? '' })

  async function staged(row: Row): Promise<Played> {
    const it = await ground.stage(row, `row-${(count += 1)}`)
    await green(it, it.pull.headSha)
    return it
  }
  async function green(it: Played, sha: string): Promise<void> {
    for (const check of ownChecks)
      await octokit.rest.checks.create({ ...name(it), name: check, head_sha: sha, conclusion: 'success' })
  }

  /** Pushes a merge that has our checks on itself. Resolves with git's words, or `accepted`. */
  async function push(it: Played): Promise<string> {
    const { path } = it.pull.repo
    const tree = await gitIn(path, 'merge-tree', '--write-tree', it.base, it.pull.headSha)
    const parents = ['-p', it.base, '-p', it.pull.headSha]
    const merge = await gitIn(path, 'commit-tree', tree.split('\n')[0] ?? '', ...parents, '-m', 'Merge')
    await green(it, merge)
    const url = it.github.url.replace('//', `//x-access-token:${token}@`)
    return gitIn(path, 'push', `${url}/${it.full}.git`, `${merge}:refs/heads/main`).then(
      () => 'accepted',
      (error: { stderr: string }) => error.stderr.replaceAll(/\nremote: ?/g, '\n'),
    )
  }

  async function mergeByApi(it: Played, merge_method: MergeMethod): Promise<string> {
    const { number, headSha } = it.pull
    return octokit.rest.pulls.merge({ ...name(it), pull_number: number, merge_method, sha: headSha }).then(
      () => 'accepted',
      (error: unknown) => said(error).message,
    )
  }

  /** The way that the bot would choose, and what it would say of the branch. */
  async function choice(it: Played): Promise<{ way: Way | undefined; says: string; planned: Planned }> {
    const [owner = '', repo = ''] = it.full.split('/')
    const app = ground.app.id
    const rules = await readBranchRules(octokit, { owner, name: repo }, 'main', { app, isApp: true })
    // An App without the permission to administer may not read classic protection, and has to say so.
    const unread = expect.stringMatching(/classic protection/)
    expect(rules.unread).toEqual(it.pull.repo.protections.size > 0 ? [unread] : [])
    const plan = chooseLandingMethod({
      rules,
      wanted: 'auto',
      permissions: ground.installation.permissions,
      app,
      ownChecks,
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

  async function openTools({ pull }: Played): Promise<LandingTools> {
    const directory = await mkdtemp(join(ground.directory, 'mirror-'))
    const { github, installation } = ground
    const checks = greenChecks(ownChecks)
    return openLandingTools({ github, app, installation: installation.id, directory, pull, clock, checks })
  }

  async function land(it: Played, { options, examine }: LandingTools): Promise<void> {
    const { planned } = await choice(it)
    const { examined, permit } = await examine()
    // Of those that are refused nothing has to be said here: that they are not merged is looked at.
    await landPull(examined, permit, { ...options, plan: async () => planned })
  }

  /** Lands what the bot would land, by the way that it would choose; what has to wait, once that is mended. */
  async function isLandedInTheEnd(row: Row): Promise<void> {
    const it = await staged(row)
    const tools = await openTools(it)
    try {
      const ends = 'ends' in row.bot ? [row.bot] : [...row.bot]
      const merged = ends.find((end) => end.ends === 'merged')
      const waits = ends.find((end) => end.ends === 'waits')
      await land(it, tools)
      if (it.pull.merged !== null && merged !== undefined) return await isMergedAsValidated(it, merged)
      expect(it.pull).toMatchObject({ state: 'open', merged: null })
      expect(waits).toBeDefined()
      if (waits?.mend === undefined || waits.then === undefined) return
      await waits.mend(it)
      await green(it, it.pull.headSha)
      await land(it, tools)
      await isMergedAsValidated(it, waits.then)
    } finally {
      await tools.mirror.close()
    }
  }

  function isExpected(row: Row, { way, says }: Awaited<ReturnType<typeof choice>>): void {
    const ends = 'ends' in row.bot ? [row.bot] : [...row.bot]
    const merged = ends.find((end) => end.ends === 'merged')
    if (merged !== undefined && way !== undefined && merged.by.includes(way)) return
    const waits = ends.find((end) => end.ends === 'waits')
    if (waits === undefined) expect({ way, says }).toEqual({ way: merged?.by.join(' or '), says })
    // A pull request that waits for people has a way all the same: what it waits for is said as a condition.
    else for (const part of waits.says) expect(says).toMatch(part)
  }

  const fits = (answer: Answer) => (answer === 'accepted' ? 'accepted' : expect.stringContaining(answer))

  test.each(rows.map((row) => [row.name, row] as const))('%s', async (_, row) => {
    const tries: [Answer, (it: Played) => Promise<string>][] = [
      [row.push, push],
      ...Object.entries(row.api ?? {}).map(([method, answer]): [Answer, (it: Played) => Promise<string>] => [
        answer,
        (it) => mergeByApi(it, method as MergeMethod),
      ]),
    ]
    // What is refused leaves everything as it was; after what is accepted the next try needs new ground.
    let it: Played | undefined = await staged(row)
    const expected = await choice(it)
    isExpected(row, expected)
    // A queue waits for our checks on its group, and CI on a temporary branch is somebody's: landing-table.test.ts has them.
    if (expected.way !== 'queue' && row.runsOnTemporary === undefined) await isLandedInTheEnd(row)
    for (const [answer, attempt] of tries) {
      it ??= await staged(row)
      expect(await attempt(it)).toEqual(fits(answer))
      expect(it.pull.merged !== null).toBe(answer === 'accepted')
      if (answer === 'accepted') it = undefined
    }
  })

  test('no row of the reference is left out', async () => {
    const page = new URL('../../../shared/reference/github-landing.md', import.meta.url)
    const text = await readFile(page, 'utf8').catch(() => undefined)
    if (text === undefined) return
    const settings = text
      .slice(text.indexOf('## 3.'), text.indexOf('## 4.'))
      .split('\n')
      .filter((line) => line.startsWith('|') && !line.startsWith('|-'))
      .slice(1)
      .map((line) => line.split('|')[1]?.trim())
    expect([...new Set(rulesAlone.map(({ setting }) => setting))].sort()).toEqual([...settings].sort())
  })
})
