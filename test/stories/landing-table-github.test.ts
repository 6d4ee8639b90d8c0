// The landing table without a bot: what GitHub, as the sandbox plays it, says of a hand-made merge that has our checks
// green on itself, and of merging by API. Row by row, for somebody who tries.
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { readFile } from 'node:fs/promises'
import { Octokit } from '@octokit/rest'
import type { MergeMethod } from '../../sandbox/github/world.ts'
import { said } from '../sandbox/github/branch-rules/landing-ground.ts'
import { jwt } from '../sandbox/github/sample-world.ts'
import { ownChecks, type Answer, type Row } from './landing-table/row.ts'
import { rulesAlone } from './landing-table/rules-alone.ts'
import { rulesTogether } from './landing-table/rules-together.ts'
import { gitIn, openTableGround, type Played, type TableGround } from './landing-table/table-ground.ts'

const rows = [...rulesAlone, ...rulesTogether]

describe('what GitHub takes', () => {
  let ground: TableGround
  let octokit: Octokit
  let token: string
  let count = 0

  beforeAll(async () => {
    ground = await openTableGround()
    const { environment, installation } = ground
    const asApp = client(jwt({ iss: ground.app.id }, environment['PRIVATE_KEY'] ?? ''))
    const { data } = await asApp.rest.apps.createInstallationAccessToken({ installation_id: installation.id })
    token = data.token
    octokit = client(token)
  })
  afterAll(async () => ground.stop())

  const client = (auth: string): Octokit => {
    const quiet = () => undefined
    const log = { debug: quiet, info: quiet, warn: quiet, error: quiet }
    return new Octokit({ auth, baseUrl: ground.github.url, log })
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
    let it: Played | undefined
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
