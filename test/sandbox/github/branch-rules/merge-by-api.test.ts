// What GitHub makes of a pull request when it merges it itself, what pins what, and its ways to move a ref.
import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals'
import { git } from '../sample-world.ts'
import { Ground, checksRule, pullRequestRule, ruleMessage } from './landing-ground.ts'
import type { Landing } from './landing-ground.ts'

let ground: Ground
beforeAll(async () => {
  ground = await Ground.furnish()
})
afterAll(async () => ground.it.stop())
afterEach(() => {
  expect(ground.it.github.violations.splice(0)).toEqual([])
})

type Commit = Awaited<ReturnType<typeof ground.it.octokit.rest.git.getCommit>>['data']
const tipOf = async (it: Landing): Promise<Commit> => {
  const commit_sha = await ground.tip(it)
  return (await ground.it.octokit.rest.git.getCommit({ ...it.name, commit_sha })).data
}
const treeOf = async ({ folder }: Landing, sha: string): Promise<string> =>
  git(folder, undefined, 'rev-parse', `${sha}^{tree}`)
const graphql = async (query: string, variables: Record<string, unknown> = {}): Promise<unknown> =>
  ground.it.octokit.graphql(query, variables).then(
    (data) => data,
    (error: Error) => error.message,
  )

describe('PUT merge', () => {
  test('merge: both parents, the tree that was validated, signed by GitHub', async () => {
    const it = await ground.landing()
    const merged = await ground.mergeByApi(it, 'merge')
    const tip = await tipOf(it)
    expect(merged).toEqual({ sha: tip.sha })
    expect(tip.parents.map(({ sha }) => sha)).toEqual([it.B, it.H])
    expect(tip.tree.sha).toBe(await treeOf(it, it.M))
    expect(tip.message).toBe(`Merge pull request #${it.pull.number} from alice/${it.pull.headRef}\n\nAlpha`)
    expect(tip.author.name).toBe('catalog-bot[bot]')
    expect(tip.committer.name).toBe('GitHub')
    expect(tip.verification.verified).toBe(true)
    expect(it.pull).toMatchObject({ state: 'closed', merged: { sha: tip.sha, by: { type: 'Bot' } } })
  })

  test('squash: one commit of the author, signed, and marked as merged though the head is not in it', async () => {
    const it = await ground.landing()
    await ground.it.github.pushToPull(it.pull, { 'beta.yaml': 'name: beta\n' })
    await ground.mergeByApi(it, 'squash')
    const tip = await tipOf(it)
    expect(tip.parents.map(({ sha }) => sha)).toEqual([it.B])
    expect(tip.message).toBe(`Alpha (#${it.pull.number})\n\n* Alpha\n\n* More`)
    expect(tip.author.name).toBe('alice')
    expect(tip.verification.verified).toBe(true)
    expect(it.pull).toMatchObject({ state: 'closed', merged: { sha: tip.sha } })
  })

  test('rebase: each commit anew on the base, unsigned', async () => {
    const it = await ground.landing({ signed: true })
    await ground.it.github.pushToPull(it.pull, { 'beta.yaml': 'name: beta\n' })
    await ground.mergeByApi(it, 'rebase')
    const tip = await tipOf(it)
    expect(tip.message).toBe('More')
    expect(tip.author.name).toBe('alice')
    expect(tip.verification.verified).toBe(false)
    const { data: first } = await ground.it.octokit.rest.git.getCommit({
      ...it.name,
      commit_sha: tip.parents[0]?.sha ?? '',
    })
    expect(first.parents.map(({ sha }) => sha)).toEqual([it.B])
    expect(first.verification.verified).toBe(false)
    expect(it.pull).toMatchObject({ state: 'closed', merged: { sha: tip.sha } })
  })

  test('rebase: a head with merges cannot be', async () => {
    const it = await ground.landing()
    await ground.stage(it)
    await ground.it.github.forcePush(it.pull, { commit: it.M })
    const message = "This branch can't be rebased"
    await ground.it.github.pushToBase(it.full, { 'again.txt': 'x' })
    expect(await ground.mergeByApi(it, 'rebase')).toEqual({ status: 405, message })
  })

  test('a head that moved is a conflict, a draft and a conflict cannot be merged', async () => {
    const it = await ground.landing()
    const message = 'Head branch was modified. Review and try the merge again.'
    expect(await ground.mergeByApi(it, 'merge', { sha: it.B })).toEqual({ status: 409, message })
    await ground.it.github.draft(it.pull)
    expect(await ground.mergeByApi(it)).toEqual({ status: 405, message: 'Pull Request is still a draft' })
    await ground.it.github.draft(it.pull, false)
    await ground.it.github.pushToBase(it.full, { 'alpha.yaml': 'other\n' })
    expect(await ground.mergeByApi(it)).toEqual({ status: 405, message: 'Pull Request has merge conflicts' })
  })

  test('nothing pins the base: it is merged into what the base is by then', async () => {
    const it = await ground.landing()
    const moved = await ground.it.github.pushToBase(it.full, { 'again.txt': 'x' })
    await ground.mergeByApi(it)
    expect((await tipOf(it)).parents.map(({ sha }) => sha)).toEqual([moved, it.H])
  })

  test('of two at once, one is told that the base was modified', async () => {
    const it = await ground.landing()
    const other = await ground.it.github.openPull({
      repository: it.full,
      author: 'alice',
      title: 'Beta',
      changes: { 'beta.yaml': 'name: beta\n' },
    })
    const both = await Promise.all([ground.mergeByApi(it), ground.mergeByApi({ ...it, pull: other })])
    const message = 'Base branch was modified. Review and try the merge again.'
    expect(both).toContainEqual({ status: 405, message })
    expect(both.filter((each) => 'sha' in each)).toHaveLength(1)
  })

  test('all that is missing is said at once; classic protection speaks without a headline', async () => {
    const it = await ground.landing()
    const rules = [pullRequestRule({ required_approving_review_count: 2 }), checksRule([{ context: 'ci' }])]
    const ruleset = ground.it.github.addRules(it.full, rules)
    const says = [
      'At least 2 approving reviews are required by reviewers with write access.',
      'Required status check "ci" is expected.',
    ]
    expect(await ground.mergeByApi(it)).toEqual({ status: 405, message: ruleMessage(...says) })
    ground.it.github.removeRuleset(it.full, ruleset)
    ground.it.github.protect(it.full, 'main', {
      required_status_checks: { strict: false, contexts: ['ci'] },
      required_pull_request_reviews: { required_approving_review_count: 2 },
    })
    expect(await ground.mergeByApi(it)).toEqual({ status: 405, message: says.join(' ') })
    // Administrators are spared unless enforce_admins says otherwise; an app is no administrator.
    const token = ground.it.github.tokenFor('maintainer')
    expect(await ground.mergeByApi(it, 'merge', { token })).toHaveProperty('sha')
  })
})

describe('refs', () => {
  test('PATCH without force takes nothing that is not a fast-forward: a base that moved', async () => {
    const it = await ground.landing()
    await ground.stage(it)
    const moved = await ground.it.github.pushToBase(it.full, { 'again.txt': 'x' })
    const update = ground.it.octokit.rest.git.updateRef({ ...it.name, ref: 'heads/main', sha: it.M })
    expect(await ground.ask(update)).toEqual({ status: 422, message: 'Update is not a fast forward' })
    expect(await ground.tip(it)).toBe(moved)
  })

  test('rules about making and deleting refs bind REST', async () => {
    const it = await ground.landing()
    ground.it.github.addRules(it.full, [{ type: 'creation' }, { type: 'deletion' }], {
      conditions: { ref_name: { include: ['refs/heads/release-*'] } },
    })
    const { rest } = ground.it.octokit
    const make = rest.git.createRef({ ...it.name, ref: 'refs/heads/release-1', sha: it.B })
    const creation = ruleMessage('Cannot create ref due to creations being restricted.')
    expect(await ground.ask(make)).toEqual({ status: 422, message: creation })
    await ground.it.github.pushToBase(it.full, { x: '1' }, { branch: 'release-2' })
    const end = rest.git.deleteRef({ ...it.name, ref: 'heads/release-2' })
    expect(await ground.ask(end)).toEqual({ status: 422, message: ruleMessage('Cannot delete this branch') })
  })

  test('updateRefs compares with what was expected, and moves all or none', async () => {
    const it = await ground.landing()
    await ground.stage(it)
    const { data } = await ground.it.octokit.rest.repos.get(it.name)
    const mutation = 'mutation ($input: UpdateRefsInput!) { updateRefs(input: $input) { clientMutationId } }'
    const update = (beforeOid: string): Promise<unknown> =>
      graphql(mutation, {
        input: {
          repositoryId: data.node_id,
          refUpdates: [
            { name: 'refs/heads/other', afterOid: it.B },
            { name: 'refs/heads/main', beforeOid, afterOid: it.M },
          ],
        },
      })
    expect(await update(it.H)).toContain(`refs/heads/main is at ${it.B} but expected ${it.H}`)
    expect(await ground.tip(it)).toBe(it.B)
    ground.it.github.addRules(it.full, [{ type: 'required_linear_history' }])
    expect(await update(it.B)).toContain('This branch must not contain merge commits.')
    const known = ground.it.github.repository(it.full).known
    expect(known.has('refs/heads/other')).toBe(false)
    for (const id of ground.it.github.repository(it.full).rulesets.keys())
      ground.it.github.repository(it.full).rulesets.delete(id)
    expect(await update(it.B)).toEqual({ updateRefs: { clientMutationId: null } })
    expect(await ground.tip(it)).toBe(it.M)
  })

  test('createCommitOnBranch makes one signed commit with one parent, from the head that was expected', async () => {
    const it = await ground.landing()
    const query = `mutation ($input: CreateCommitOnBranchInput!) {
      createCommitOnBranch(input: $input) { commit { oid } ref { target { oid } } }
    }`
    const input = {
      branch: { repositoryNameWithOwner: it.full, branchName: 'main' },
      message: { headline: 'One file' },
      fileChanges: { additions: [{ path: 'one.txt', contents: btoa('one\n') }] },
    }
    expect(await graphql(query, { input: { ...input, expectedHeadOid: it.H } })).toContain('Expected branch')
    expect(await graphql(query, { input: { ...input, expectedHeadOid: it.B } })).toMatchObject({
      createCommitOnBranch: { commit: { oid: await ground.tip(it) } },
    })
    const tip = await tipOf(it)
    expect(tip.parents.map(({ sha }) => sha)).toEqual([it.B])
    expect(tip.verification.verified).toBe(true)
    // The pull request is not in it, so it stays open.
    expect(it.pull.state).toBe('open')
  })

  test('mergePullRequest pins the head as PUT does', async () => {
    const it = await ground.landing()
    const { data } = await ground.it.octokit.rest.pulls.get({ ...it.name, pull_number: it.pull.number })
    const query = `mutation ($id: ID!, $head: GitObjectID) {
      mergePullRequest(input: { pullRequestId: $id, expectedHeadOid: $head, mergeMethod: SQUASH }) {
        pullRequest { state mergeCommit { oid } }
      }
    }`
    expect(await graphql(query, { id: data.node_id, head: it.B })).toContain('Head branch was modified')
    expect(await graphql(query, { id: data.node_id, head: it.H })).toEqual({
      mergePullRequest: { pullRequest: { state: 'MERGED', mergeCommit: { oid: await ground.tip(it) } } },
    })
  })
})
