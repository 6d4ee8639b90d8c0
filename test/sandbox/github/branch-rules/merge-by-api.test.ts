// How GitHub merges a pull request through its API, which commits a request pins, and how refs can be moved.
import { describe, expect, test } from '@jest/globals'
import { runGit, createPullOptions } from '../github-fixture.ts'
import {
  MergeRulesFixture,
  createStatusChecksRule,
  createPullRequestRule,
  formatRuleViolations,
} from './merge-rules-fixture.ts'
import type { BranchRulesScenario } from './merge-rules-fixture.ts'

const { githubFixture, readTip, openMergeCase, mergeByApi, stage, captureError } =
  await MergeRulesFixture.furnish()
const { github, octokit } = githubFixture

type GitHubCommitResponse = Awaited<ReturnType<typeof octokit.rest.git.getCommit>>['data']
const readBranchTipCommit = async (it: BranchRulesScenario): Promise<GitHubCommitResponse> => {
  const commit_sha = await readTip(it)
  return (await octokit.rest.git.getCommit({ ...it.name, commit_sha })).data
}
const readCommitTreeId = async ({ folder }: BranchRulesScenario, sha: string): Promise<string> =>
  runGit(folder, undefined, 'rev-parse', `${sha}^{tree}`)
describe('PUT merge', () => {
  test('merge: has both parents and the validated tree, and is signed by GitHub', async () => {
    const it = await openMergeCase()
    const merged = await mergeByApi(it, 'merge')
    const tip = await readBranchTipCommit(it)
    expect(merged).toEqual({ sha: tip.sha })
    expect(tip.parents.map(({ sha }) => sha)).toEqual([it.baseSha, it.headSha])
    expect(tip.tree.sha).toBe(await readCommitTreeId(it, it.mergeSha))
    expect(tip.message).toBe(`Merge pull request #${it.pull.number} from alice/${it.pull.headRef}\n\nAlpha`)
    expect(tip.author.name).toBe('catalog-bot[bot]')
    expect(tip.committer.name).toBe('GitHub')
    expect(tip.verification.verified).toBe(true)
    expect(it.pull).toMatchObject({ state: 'closed', merged: { sha: tip.sha, by: { type: 'Bot' } } })
  })

  test('squash: creates one signed commit by the author, and marks the pull request as merged', async () => {
    const it = await openMergeCase()
    await github.pushToPull(it.pull, { 'beta.yaml': 'name: beta\n' })
    await mergeByApi(it, 'squash')
    const tip = await readBranchTipCommit(it)
    expect(tip.parents.map(({ sha }) => sha)).toEqual([it.baseSha])
    expect(tip.message).toBe(`Alpha (#${it.pull.number})\n\n* Alpha\n\n* More`)
    expect(tip.author.name).toBe('alice')
    expect(tip.verification.verified).toBe(true)
    expect(it.pull).toMatchObject({ state: 'closed', merged: { sha: tip.sha } })
  })

  test('rebase: recreates each commit on the base, unsigned', async () => {
    const it = await openMergeCase({ signed: true })
    await github.pushToPull(it.pull, { 'beta.yaml': 'name: beta\n' })
    await mergeByApi(it, 'rebase')
    const tip = await readBranchTipCommit(it)
    expect(tip.message).toBe('More')
    expect(tip.author.name).toBe('alice')
    expect(tip.verification.verified).toBe(false)
    const { data: first } = await octokit.rest.git.getCommit({
      ...it.name,
      commit_sha: tip.parents[0]?.sha ?? '',
    })
    expect(first.parents.map(({ sha }) => sha)).toEqual([it.baseSha])
    expect(first.verification.verified).toBe(false)
    expect(it.pull).toMatchObject({ state: 'closed', merged: { sha: tip.sha } })
  })

  test('rebase: rejects a head that contains merges', async () => {
    const it = await openMergeCase()
    await stage(it)
    await github.forcePush(it.pull, { commit: it.mergeSha })
    const message = "This branch can't be rebased"
    await github.pushToBase(it.full, { 'again.txt': 'x' })
    expect(await mergeByApi(it, 'rebase')).toEqual({ status: 405, message })
  })

  test('rejects a moved head with 409, and a draft or a merge conflict with 405', async () => {
    const it = await openMergeCase()
    const message = 'Head branch was modified. Review and try the merge again.'
    expect(await mergeByApi(it, 'merge', { sha: it.baseSha })).toEqual({ status: 409, message })
    await github.draft(it.pull)
    expect(await mergeByApi(it)).toEqual({ status: 405, message: 'Pull Request is still a draft' })
    await github.draft(it.pull, false)
    await github.pushToBase(it.full, { 'alpha.yaml': 'other\n' })
    expect(await mergeByApi(it)).toEqual({ status: 405, message: 'Pull Request has merge conflicts' })
  })

  test('does not pin the base, and merges into its current tip', async () => {
    const it = await openMergeCase()
    const moved = await github.pushToBase(it.full, { 'again.txt': 'x' })
    await mergeByApi(it)
    expect((await readBranchTipCommit(it)).parents.map(({ sha }) => sha)).toEqual([moved, it.headSha])
  })

  test('rejects one of two concurrent merges because the base was modified', async () => {
    const it = await openMergeCase()
    const other = await github.openPull(
      createPullOptions('Beta', { 'beta.yaml': 'name: beta\n' }, { repository: it.full }),
    )
    const both = await Promise.all([mergeByApi(it), mergeByApi({ ...it, pull: other })])
    const message = 'Base branch was modified. Review and try the merge again.'
    expect(both).toContainEqual({ status: 405, message })
    expect(both.filter((each) => 'sha' in each)).toHaveLength(1)
  })

  test('reports all violations at once, without a headline for classic protection', async () => {
    const it = await openMergeCase()
    const rules = [
      createPullRequestRule({ required_approving_review_count: 2 }),
      createStatusChecksRule([{ context: 'ci' }]),
    ]
    const ruleset = github.addRules(it.full, rules)
    const messages = [
      'At least 2 approving reviews are required by reviewers with write access.',
      'Required status check "ci" is expected.',
    ]
    expect(await mergeByApi(it)).toEqual({ status: 405, message: formatRuleViolations(...messages) })
    github.removeRuleset(it.full, ruleset)
    github.protect(it.full, 'main', {
      required_status_checks: { strict: false, contexts: ['ci'] },
      required_pull_request_reviews: { required_approving_review_count: 2 },
    })
    expect(await mergeByApi(it)).toEqual({ status: 405, message: messages.join(' ') })
    // Administrators are exempt unless enforce_admins is set. An app is not an administrator.
    const token = github.tokenFor('maintainer')
    expect(await mergeByApi(it, 'merge', { token })).toHaveProperty('sha')
  })
})

describe('refs', () => {
  test('PATCH without force rejects an update that is not a fast-forward because the base moved', async () => {
    const it = await openMergeCase()
    await stage(it)
    const moved = await github.pushToBase(it.full, { 'again.txt': 'x' })
    const update = octokit.rest.git.updateRef({ ...it.name, ref: 'heads/main', sha: it.mergeSha })
    expect(await captureError(update)).toEqual({ status: 422, message: 'Update is not a fast forward' })
    expect(await readTip(it)).toBe(moved)
  })

  test('rules about creating and deleting refs apply to REST', async () => {
    const it = await openMergeCase()
    github.addRules(it.full, [{ type: 'creation' }, { type: 'deletion' }], {
      conditions: { ref_name: { include: ['refs/heads/release-*'] } },
    })
    const { rest } = octokit
    const make = rest.git.createRef({ ...it.name, ref: 'refs/heads/release-1', sha: it.baseSha })
    const creation = formatRuleViolations('Cannot create ref due to creations being restricted.')
    expect(await captureError(make)).toEqual({ status: 422, message: creation })
    await github.pushToBase(it.full, { x: '1' }, { branch: 'release-2' })
    const end = rest.git.deleteRef({ ...it.name, ref: 'heads/release-2' })
    expect(await captureError(end)).toEqual({
      status: 422,
      message: formatRuleViolations('Cannot delete this branch'),
    })
  })
})
